import type { Clock } from '../../../base/clock.ts';
import { checkNew, checkVersion, found } from '../../guards.ts';
import type { NewWork, WorkRecord } from '../../records.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findWork, listWorks } from '../../sql/queries.ts';
import { toWork } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { build, eachRow, firstRow, runQuery } from '../build.ts';
import type { Database } from '../database.ts';

export function createWorks(database: Database, clock: Clock): Store['works'] {
  return {
    get: async (workspaceId, id) => get(workspaceId, id),

    list: async (request) => {
      const list = `works of ${request.environmentId}`;
      const rows = eachRow(database, listWorks(build, list, request));
      return pageOfRows(list, request, rows, { toRecord: toWork, positionOf: byCreation });
    },

    claim: async ({ workspaceId, environmentId, reclaimMs }) =>
      database.transaction(() => {
        const now = clock.now();
        const first = database
          .prepare<{ id: string }>(FIRST)
          .get(environmentId, workspaceId, now - reclaimMs, now, now);
        if (first === undefined) return undefined;
        database.prepare(CLAIM).run(now, first.id);
        return get(workspaceId, first.id);
      }),

    update: async ({ workspaceId, id, ifRevision, state, leaseMs, data }) =>
      database.transaction(() => {
        const { revision } = found(get(workspaceId, id), id);
        checkVersion(id, ifRevision, revision);
        const columns = {
          revision: revision + 1,
          ...(state === undefined ? {} : { state }),
          ...(leaseMs === undefined ? {} : { leased_until: leaseMs === null ? null : clock.now() + leaseMs }),
          ...(data === undefined ? {} : { data: JSON.stringify(data) }),
        };
        runQuery(database, build.updateTable('works').set(columns).where('id', '=', id));
        return get(workspaceId, id)!;
      }),

    count: async ({ workspaceId, environmentId }) =>
      database.prepare<WorkCountsRow>(COUNT).get(clock.now(), environmentId, workspaceId)!,
  };

  function get(workspaceId: string, id: string): WorkRecord | undefined {
    const row = firstRow(database, findWork(build, workspaceId, id));
    return row && toWork(row);
  }
}

/** Called within a write. Does nothing if the session has an open item. */
export function enqueueWork(database: Database, at: { key: number; sessionId: string }, work: NewWork): void {
  if (database.prepare(FIND_OPEN).get(at.key) !== undefined) return;
  checkNew(firstRow(database, build.selectFrom('works').select('id').where('id', '=', work.id)), work.id);
  database.prepare(ENQUEUE).run(work.id, work.createdAt, JSON.stringify(work.data), at.key);
}

type WorkCountsRow = Awaited<ReturnType<Store['works']['count']>>;

const FIND_OPEN = `SELECT id FROM works WHERE session_key = ? AND state IN ('queued', 'starting', 'active')`;
const ENQUEUE = `
  INSERT INTO works (id, workspace_id, environment_id, session_key, session_id, state, revision, created_at, data)
  SELECT ?1, workspace_id, environment_id, key, id, 'queued', 1, ?2, ?3 FROM sessions WHERE key = ?4`;
const ABANDONED = `w.state IN ('starting', 'active') AND w.leased_until <= ?`;
// Written in SQL: polls are frequent, and building a query takes longer than running it.
const FIRST = `
  SELECT w.id FROM works w JOIN sessions s ON s.key = w.session_key
  WHERE w.environment_id = ? AND w.workspace_id = ? AND w.state <> 'stopped' AND s.status <> 'terminated'
    AND (w.state = 'queued' AND (w.claimed_at IS NULL OR w.claimed_at <= ?) OR ${ABANDONED})
    AND NOT EXISTS (
      SELECT 1 FROM works o WHERE o.session_key = w.session_key AND o.id <> w.id
        AND o.state IN ('starting', 'active', 'stopping') AND o.leased_until > ?
    )
  ORDER BY w.created_at, w.id LIMIT 1`;
const CLAIM = `
  UPDATE works SET state = 'queued', claimed_at = ?, leased_until = NULL, revision = revision + 1 WHERE id = ?`;
const COUNT = `
  SELECT
    count(CASE WHEN claimed = 0 THEN 1 END) AS waiting, count(CASE WHEN claimed = 1 THEN 1 END) AS claimed,
    min(created_at) AS oldestAt
  FROM (
    SELECT w.created_at, w.state = 'queued' AND w.claimed_at IS NOT NULL AS claimed
    FROM works w JOIN sessions s ON s.key = w.session_key
    WHERE s.status <> 'terminated' AND (w.state = 'queued' OR ${ABANDONED})
      AND w.environment_id = ? AND w.workspace_id = ?
  )`;
