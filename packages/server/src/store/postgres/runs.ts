import { storeLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { foldStoredRuns, positionOfRun, runListOf, toRunListId } from '../fold-runs.ts';
import { found } from '../guards.ts';
import { cutPage, toPage, toSeek } from '../page.ts';
import type { RunPlace, Runs } from '../store.ts';
import { insertRows } from './commit/rows.ts';
import type { Database } from './database.ts';
import type { Segments } from './segments.ts';

export function createRuns(database: Database, segments: Segments): Runs {
  const get = (sessionId: string, runId: string) => find(GET, sessionId, runId);
  return {
    findAt: (sessionId, seq) => find(FIND_AT, sessionId, Math.min(seq, Number.MAX_SAFE_INTEGER)),
    findSince: (sessionId, time) => find(FIND_SINCE, sessionId, time),
    get,
    list: async (request) => {
      const name = runListOf(request);
      const { after, limit } = toSeek(name, request);
      const behind = after === undefined ? [Number.MAX_SAFE_INTEGER, ''] : [after.time, after.id];
      const [sql, from] = 'isOpen' in request ? [OPEN, []] : [STARTED, [request.startedFrom]];
      const { rows } = await database.read<RunPlace>(sql, [request.workspaceId, ...behind, limit, ...from]);
      const runs = await Promise.all(
        rows.map(async (run) => (run.firstSeq > 0 ? run : await get(run.sessionId, run.id))),
      );
      // The cursor is the position of the row, also if the run turns out to begin elsewhere.
      const { next } = toPage(
        name,
        request,
        cutPage(rows, request.limit, () => 0),
        positionOfRun,
      );
      return { items: runs.slice(0, request.limit).filter((run) => run !== undefined), next };
    },
  };

  async function find(sql: string, sessionId: string, value: unknown): Promise<RunPlace | undefined> {
    const { rows } = await database.read<Found>(sql, [sessionId, value]);
    const { isIndexed, ...run } = found(rows[0], sessionId);
    if (isIndexed) return run.id === null ? undefined : run;
    await fill(sessionId);
    return await find(sql, sessionId, value);
  }

  /** Indexes the whole log, including frames written in the meantime. */
  async function fill(sessionId: string): Promise<void> {
    const { logBatchEntriesMax: entriesMax, logBatchBytesMax: bytesMax } = storeLimits;
    const runs: RunPlace[] = [];
    let cursor = 0;
    for (let isOver = false; !isOver; await yieldToEventLoop()) {
      const entries = await segments.read({ sessionId, after: cursor, entriesMax, bytesMax });
      foldStoredRuns(sessionId, runs, entries);
      cursor = entries.at(-1)?.lastSeq ?? cursor;
      isOver = entries.length === 0 && (await finish(sessionId, cursor, runs));
    }
  }

  /** False if frames were written in the meantime. */
  async function finish(sessionId: string, cursor: number, runs: readonly RunPlace[]): Promise<boolean> {
    return await database.transaction(async (connection) => {
      const { rows } = await connection.query<{ session_key: number; head: number }>(LOCK, [sessionId]);
      const { session_key: key, head } = found(rows[0], sessionId);
      if (head > cursor) return false;
      const owner = await connection.query<{ workspace_id: string }>(WORKSPACE, [key]);
      const { workspace_id: workspaceId } = found(owner.rows[0], sessionId);
      const made = runs.map((run) => {
        const names = [run.id, sessionId, workspaceId, toRunListId(sessionId, run.firstSeq)];
        return [key, run.firstSeq, run.lastSeq, run.startedAt, run.endedAt, ...names];
      });
      const insert = insertRows('runs', COLUMNS, made);
      await connection.queries([
        { sql: 'DELETE FROM ~runs WHERE session_key = $1', values: [key] },
        ...(insert === undefined ? [] : [insert]),
        { sql: 'DELETE FROM ~unindexed WHERE session_key = $1', values: [key] },
      ]);
      return true;
    });
  }
}

type Found = { readonly isIndexed: boolean } & (RunPlace | Record<keyof RunPlace, null>);

const COLUMNS =
  'session_key int8, first_seq int8, last_seq int8, started_at int8, ended_at int8, id text, session_id text, workspace_id text, list_id text';
const LOCK = 'SELECT session_key, head FROM ~logs WHERE session_id = $1 FOR UPDATE';
const WORKSPACE = 'SELECT workspace_id FROM ~sessions WHERE key = $1';
const RUN = `
  SELECT session_id AS "sessionId", id, first_seq AS "firstSeq", last_seq AS "lastSeq", started_at AS "startedAt",
    ended_at AS "endedAt"
  FROM ~runs WHERE`;
/** One statement returns whether the session exists, whether its index is complete, and the run. */
const findIn = (where: string) => `
  SELECT r.*, NOT EXISTS (SELECT FROM ~unindexed u WHERE u.session_key = l.session_key) AS "isIndexed"
  FROM ~logs l LEFT JOIN LATERAL (${RUN} session_key = l.session_key AND ${where} LIMIT 1) AS r ON true
  WHERE l.session_id = $1`;
const FIND_AT = findIn('first_seq <= $2 ORDER BY first_seq DESC');
const FIND_SINCE = findIn('started_at >= $2 ORDER BY first_seq');
const GET = findIn('id = $2 ORDER BY first_seq');
const BEHIND = '(started_at, list_id) < ($2, $3) ORDER BY started_at DESC, list_id DESC LIMIT $4';
const OPEN = `${RUN} workspace_id = $1 AND ended_at IS NULL AND ${BEHIND}`;
const STARTED = `${RUN} workspace_id = $1 AND started_at >= $5 AND ${BEHIND}`;
