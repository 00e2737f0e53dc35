import { jsonBytesAtLeast } from '../base/json/json-bytes.ts';
import { logLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import type { EncodedFrame } from '../store/frame.ts';
import { needsFence, writeSkipped } from '../store/run-writes.ts';
import type { Store } from '../store/store.ts';
import { storeError } from '../store/store-errors.ts';
import { type Appended, type Change, type Outcome, sessionOf, type Write } from '../store/write.ts';

/** The store to commit to, and the bounds of the queue. */
export interface CommitQueueOptions {
  readonly store: Pick<Store, 'commit'>;
  /** Called with each committed write, before its writer continues. */
  readonly onCommitted: (write: Write, appended: Appended) => void;
  readonly queueBytesMax?: number;
  readonly commitBytesMax?: number;
}

/**
 * Group commit: one commit at a time; writes that arrive during a commit are in the next one. An idle queue commits at
 * the end of the current tick; a busy one has larger commits instead of more of them.
 */
export class CommitQueue {
  readonly #options: Required<CommitQueueOptions>;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #running: Promise<void> | undefined;
  /** Commits that run at the same time as the commit of the queue. */
  readonly #alone = new Set<Promise<void>>();
  /** Owners with a write that was rejected in this tick, and the reason: they may not know of it yet. */
  readonly #refused = new Map<string, Error>();

  constructor(options: CommitQueueOptions) {
    const { queueBytesMax = logLimits.logQueueBytesMax, commitBytesMax = storeLimits.logCommitBytesMax } = options;
    this.#options = { ...options, queueBytesMax, commitBytesMax };
  }

  get isCommitting(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when the write is durable. Rejects if the write was rejected, or if the commit failed. */
  push(write: Write): Promise<Appended> {
    const earlier = needsFence(write) ? this.#refused.get(ownerOf(write)) : undefined;
    if (earlier !== undefined) return Promise.reject(writeSkipped(sessionOf(write), earlier));
    const bytes = bytesOfWrite(write);
    const { queueBytesMax } = this.#options;
    // A write that is larger than the queue's limit waits for an empty queue: it would never fit otherwise.
    if (this.#bytes > 0 && this.#bytes + bytes > queueBytesMax) {
      const problem = `${this.#bytes} bytes wait to be committed, and ${queueBytesMax} are allowed`;
      return this.refuse(write, storeError('log_full', problem));
    }
    this.#bytes += bytes;
    // A new session depends on no other write, and a long log would delay the writes behind it.
    if (write.type === 'create' && bytes > this.#options.commitBytesMax) return this.#commitAlone(write, bytes);
    this.#running ??= this.#run();
    return new Promise((resolve, reject) => this.#waiting.push({ write, bytes, resolve, reject }));
  }

  #commitAlone(write: Write, bytes: number): Promise<Appended> {
    return new Promise((resolve, reject) => {
      const committing = nextTurn()
        .then(() => this.#commit([{ write, bytes, resolve, reject }]))
        .finally(() => this.#alone.delete(committing));
      this.#alone.add(committing);
    });
  }

  /**
   * Rejects a write that cannot be applied, and all writes of its owner until the owner can know of the failure: they would
   * depend on something that is not in the log.
   */
  refuse(write: Write<unknown>, error: Error): Promise<never> {
    if (needsFence(write)) this.#note(write, error);
    return Promise.reject(error);
  }

  /** Resolves when the queue is empty. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    await Promise.all(this.#alone);
  }

  async #run(): Promise<void> {
    // Not a microtask, so that writes caused by other sockets in this tick are in the same commit.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      // Serialising a large write took much of this turn of the event loop: sockets and timers come first.
      if (this.#bytes > logLimits.logCommitAloneBytes) await nextTurn();
      await this.#commit(this.#take());
      // Callers that wait for this commit continue first, so that their next writes can be in the next commit.
      if (this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#running = undefined;
  }

  /** As many writes as fit into one commit, but at least one. */
  #take(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((next, index) => {
      bytes += next.bytes;
      return index > 0 && bytes > this.#options.commitBytesMax;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const outcomes = await this.#tryCommit(batch);
    for (const [index, { write, bytes, resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index]!;
      this.#bytes -= bytes;
      if (!outcome.ok) {
        if (needsFence(write)) {
          this.#skipBehind(write.sessionId, outcome.error);
          this.#note(write, outcome.error);
        }
        reject(outcome.error);
        continue;
      }
      const appended = { firstSeq: outcome.firstSeq, lastSeq: outcome.lastSeq };
      this.#options.onCommitted(write, appended);
      resolve(appended);
    }
  }

  async #tryCommit(batch: readonly Waiting[]): Promise<readonly Outcome[]> {
    try {
      return await this.#options.store.commit(batch.map(({ write }) => write));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const error = storeError('store_failed', `nothing of this commit was written (${reason})`, cause);
      return batch.map(() => ({ ok: false, error }));
    }
  }

  #note(write: Fenced, error: Error): void {
    // By then the promises are rejected and their callers have run.
    if (this.#refused.size === 0) setImmediate(() => this.#refused.clear());
    this.#refused.set(ownerOf(write), error);
  }

  /** A write that was queued before its owner could know that an earlier write failed must not be in the log without that one. */
  #skipBehind(sessionId: string, cause: unknown): void {
    const isBehind = ({ write }: Waiting) => needsFence(write) && sessionOf(write) === sessionId;
    const skipped = this.#waiting.filter(isBehind);
    if (skipped.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => !isBehind(waiting));
    for (const { bytes, reject } of skipped) {
      this.#bytes -= bytes;
      reject(writeSkipped(sessionId, cause));
    }
  }
}

/** A rejection concerns one owner: the writes of the next owner do not depend on it. */
function ownerOf({ sessionId, fence }: Fenced): string {
  return `${sessionId} ${fence}`;
}

type Fenced = Extract<Write<unknown>, { fence: number }>;

interface Waiting {
  readonly write: Write;
  readonly bytes: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
}

/** The first `setImmediate` runs in this turn of the event loop, the second one after sockets and timers. */
async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Assumed for records that are small and whose size is checked elsewhere. */
const CHANGE_BYTES = 1_024;

function bytesOfWrite(write: Write): number {
  const frames: readonly EncodedFrame[] = 'frames' in write ? write.frames : [];
  const changes: readonly Change[] = 'changes' in write ? write.changes : [];
  const made = write.type === 'create' ? jsonBytesAtLeast(write.session.data) : 0;
  const kept = changes.reduce((sum, change) => sum + bytesOfChange(change), CHANGE_BYTES + made);
  return frames.reduce((sum, { bytes }) => sum + bytes.length + 1, kept);
}

/** The record of a session contains its agent with the whole roster, and so does the response that is kept for repeated requests. */
function bytesOfChange(change: Change): number {
  if (change.type === 'update_session' && change.patch.data !== undefined) {
    return CHANGE_BYTES + jsonBytesAtLeast(change.patch.data);
  }
  return change.type === 'put_key' ? CHANGE_BYTES + jsonBytesAtLeast(change.key.result) : CHANGE_BYTES;
}
