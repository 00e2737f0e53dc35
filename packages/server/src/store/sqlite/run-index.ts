import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { hasEvents } from '../entries.ts';
import { foldStoredRuns, isRunMark, positionOfRun, runListOf, toRunListId } from '../fold-runs.ts';
import type { EncodedFrame } from '../frame.ts';
import { found } from '../guards.ts';
import { cutPage, toPage, toSeek } from '../page.ts';
import type { RunListRequest, RunPlace, Runs } from '../store.ts';
import type { Database } from './database.ts';
import type { Place, Segments } from './segments.ts';

/** The index of runs. */
export class RunIndex implements Runs {
  readonly #database: Database;
  readonly #segments: Segments;
  /** Sessions older than the index whose logs are being indexed. */
  readonly #filling = new Map<string, Promise<void>>();

  constructor(database: Database, segments: Segments) {
    this.#database = database;
    this.#segments = segments;
  }

  /** Must run in the transaction of a commit, with all frames that the commit has for a session. */
  append(
    sessionId: string,
    { key, workspaceId, head }: Pick<Place, 'key' | 'workspaceId' | 'head'>,
    frames: readonly EncodedFrame[],
  ): void {
    for (let index = 0; index < frames.length; index++) {
      const { mark } = frames[index]!;
      if (!isRunMark(mark)) continue;
      const seq = head + 1 + index;
      if (mark.isEnd) this.#database.prepare(END).run(seq, mark.time, key, mark.run);
      else this.#insert(key, workspaceId, { ...EMPTY, sessionId, id: mark.run, firstSeq: seq, startedAt: mark.time });
    }
  }

  findAt = async (sessionId: string, seq: number): Promise<RunPlace | undefined> =>
    this.#database.prepare<RunPlace>(FIND_AT).get(await this.#keyOf(sessionId), seq);

  findSince = async (sessionId: string, time: number): Promise<RunPlace | undefined> =>
    this.#database.prepare<RunPlace>(FIND_SINCE).get(await this.#keyOf(sessionId), time);

  get = async (sessionId: string, runId: string): Promise<RunPlace | undefined> =>
    this.#database.prepare<RunPlace>(GET).get(await this.#keyOf(sessionId), runId);

  list = async (request: RunListRequest) => {
    const name = runListOf(request);
    const { after, limit } = toSeek(name, request);
    const [wanted, from] = 'isOpen' in request ? [OPEN, []] : [STARTED, [request.startedFrom]];
    const behind = after === undefined ? [Number.MAX_SAFE_INTEGER, ''] : [after.time, after.id];
    const rows = this.#database.prepare<RunPlace>(wanted).all(request.workspaceId, ...from, ...behind, limit);
    const runs = await Promise.all(rows.map(async (run) => (run.firstSeq > 0 ? run : await this.#locate(run))));
    // The cursor is the position of the row, also if the run turns out to begin elsewhere.
    const { next } = toPage(
      name,
      request,
      cutPage(rows, request.limit, () => 0),
      positionOfRun,
    );
    return { items: runs.slice(0, request.limit).filter((run) => run !== undefined), next };
  };

  async #locate({ sessionId, id }: RunPlace): Promise<RunPlace | undefined> {
    if (this.#segments.place(sessionId) === undefined) return undefined;
    return await this.get(sessionId, id);
  }

  /** The key of a session whose index is complete. */
  async #keyOf(sessionId: string): Promise<number> {
    const { key } = found(this.#segments.place(sessionId), sessionId);
    if (this.#segments.isIndexed(key)) return key;
    const filling =
      this.#filling.get(sessionId) ?? this.#fill(sessionId).finally(() => this.#filling.delete(sessionId));
    this.#filling.set(sessionId, filling);
    await filling;
    return found(this.#segments.place(sessionId), sessionId).key;
  }

  /** Indexes the whole log, including frames written in the meantime. */
  async #fill(sessionId: string): Promise<void> {
    const runs: RunPlace[] = [];
    const withEvents: number[] = [];
    let cursor = 0;
    for (let isOver = false; !isOver; await yieldToEventLoop()) {
      const segments = this.#segments.readSegments(sessionId, cursor);
      for (const { firstSeq, lastSeq, entries } of segments) {
        foldStoredRuns(
          sessionId,
          runs,
          entries.filter((entry) => entry.lastSeq > cursor),
        );
        if (hasEvents(entries)) withEvents.push(firstSeq);
        cursor = lastSeq;
      }
      isOver = segments.length === 0 && this.#finish(sessionId, cursor, runs, withEvents);
    }
  }

  /** False if frames were written into the segment that was read last. */
  #finish(sessionId: string, cursor: number, runs: readonly RunPlace[], withEvents: readonly number[]): boolean {
    const place = found(this.#segments.place(sessionId), sessionId);
    if (place.head > cursor) return false;
    this.#database.transaction(() => {
      this.#database.prepare('DELETE FROM runs WHERE session_key = ?').run(place.key);
      for (const run of runs) this.#insert(place.key, place.workspaceId, run);
      for (const firstSeq of withEvents) this.#segments.noteEvents(place.key, firstSeq);
      this.#database.prepare('DELETE FROM unindexed WHERE session_key = ?').run(place.key);
    });
    return true;
  }

  #insert(key: number, workspaceId: string, run: RunPlace): void {
    const { sessionId, id, firstSeq, lastSeq, startedAt, endedAt } = run;
    const listId = toRunListId(sessionId, firstSeq);
    const row = [key, firstSeq, lastSeq, startedAt, endedAt, id, sessionId, workspaceId, listId];
    this.#database.prepare(INSERT).run(...row);
  }
}

const EMPTY = { lastSeq: null, endedAt: null };

const INSERT = 'INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
const END = 'UPDATE runs SET last_seq = ?, ended_at = ? WHERE session_key = ? AND id = ? AND ended_at IS NULL';
const RUN = `
  SELECT session_id AS sessionId, id, first_seq AS firstSeq, last_seq AS lastSeq, started_at AS startedAt,
    ended_at AS endedAt
  FROM runs WHERE`;
const FIND_AT = `${RUN} session_key = ? AND first_seq <= ? ORDER BY first_seq DESC LIMIT 1`;
const FIND_SINCE = `${RUN} session_key = ? AND started_at >= ? ORDER BY first_seq LIMIT 1`;
const GET = `${RUN} session_key = ? AND id = ? ORDER BY first_seq LIMIT 1`;
const BEHIND = '(started_at, list_id) < (?, ?) ORDER BY started_at DESC, list_id DESC LIMIT ?';
const OPEN = `${RUN} workspace_id = ? AND ended_at IS NULL AND ${BEHIND}`;
const STARTED = `${RUN} workspace_id = ? AND started_at >= ? AND ${BEHIND}`;
