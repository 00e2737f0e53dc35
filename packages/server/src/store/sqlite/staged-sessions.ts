import { randomUUID } from 'node:crypto';
import { storeLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { bytesOf } from '../entries.ts';
import type { EncodedFrame } from '../frame.ts';
import type { Write } from '../write.ts';
import { isStoreError } from '../store-errors.ts';
import { type Database, isDatabaseError } from './database.ts';
import type { Segments } from './segments.ts';

export type CreateWrite = Extract<Write, { type: 'create' }>;

/**
 * Sessions created with a long log, as forks are. The log is written in several transactions under an id that lookups never
 * match, and the write that creates the session then sets its id. So no transaction holds the event loop for the whole log, and
 * no reader sees a part of it.
 */
export class StagedSessions {
  readonly #database: Database;
  readonly #segments: Segments;
  /** The keys of staged logs to remove. */
  readonly #unused = new Set<number>();

  constructor(database: Database, segments: Segments) {
    this.#database = database;
    this.#segments = segments;
    // Only this process uses the file, so the processes that staged these logs are dead.
    database.prepare(`UPDATE sessions SET workspace_id = '' WHERE workspace_id = ' '`).run();
  }

  /** Stages the logs that are too long for one transaction, and returns their keys. */
  async stageAll(writes: readonly Write[]): Promise<ReadonlyMap<Write, number>> {
    this.#dropUnused();
    const staged = new Map<Write, number>();
    try {
      for (const write of writes) {
        if (!isLong(write)) continue;
        const key = this.#begin();
        staged.set(write, key);
        await this.#stage(key, write.frames);
      }
    } catch (error) {
      for (const key of staged.values()) this.drop(key);
      throw error;
    }
    return staged;
  }

  /** Removes the staged log of a rejected write. A session that has its own id by now is kept. */
  drop(key: number): void {
    this.#unused.add(key);
    this.#dropUnused();
  }

  /** The error of the write, such as a full disk, may also fail this. It is repeated with the next long log and at the next start. */
  #dropUnused(): void {
    try {
      for (const key of this.#unused) {
        this.#database.prepare(`UPDATE sessions SET workspace_id = '' WHERE key = ? AND workspace_id = ' '`).run(key);
        this.#unused.delete(key);
      }
    } catch (error) {
      if (!isDatabaseError(error) && !isStoreError(error, 'closed')) throw error;
    }
  }

  /** In a transaction: the driver ignores that the commit of a statement with RETURNING failed, as on a full disk. */
  #begin(): number {
    const stage = this.#database.prepare<{ key: number }>(STAGE);
    return this.#database.transaction(() => stage.get(`staged ${randomUUID()}`)!.key);
  }

  async #stage(key: number, frames: readonly EncodedFrame[]): Promise<void> {
    const place = { key, segmentId: null, segmentBytes: 0 } as const;
    let head = 0;
    for (const slice of toSlices(frames)) {
      const at = head;
      this.#database.transaction(() => this.#segments.append({ ...place, head: at }, slice));
      head += slice.length;
      await yieldToEventLoop();
    }
  }
}

/** Whether the log of a new session is so long that it is written in several transactions. */
export function isLong(write: Write): write is CreateWrite {
  if (write.type !== 'create') return false;
  let bytes = 0;
  return write.frames.some((frame) => (bytes += bytesOf(frame)) > storeLimits.logCommitBytesMax);
}

/** Slices of frames for one transaction each. */
function* toSlices(frames: readonly EncodedFrame[]): Generator<readonly EncodedFrame[]> {
  let [start, bytes] = [0, 0];
  for (const [index, frame] of frames.entries()) {
    bytes += bytesOf(frame);
    if (bytes < storeLimits.storeSliceBytesMax) continue;
    yield frames.slice(start, index + 1);
    [start, bytes] = [index + 1, 0];
  }
  if (start < frames.length) yield frames.slice(start);
}

const STAGE = `
  INSERT INTO sessions (
    id, workspace_id, agent_id, agent_version, environment_id, status, revision, created_at, updated_at, data
  ) VALUES (?, ' ', '', 0, '', 'terminated', 0, 0, 0, '{}') RETURNING key`;
