import { checkVersion, found } from '../../guards.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findWork, listWorks } from '../../sql/queries.ts';
import { toWork } from '../../sql/records.ts';
import type { Schema } from '../../sql/schema.ts';
import type { Store, WorkCounts } from '../../store.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import type { Database } from '../database.ts';

export function createWorks(database: Database, build: Build): Store['works'] {
  return {
    get: async (workspaceId, id) => {
      const row = await firstRow(database, findWork(build, workspaceId, id));
      return row && toWork(row);
    },

    list: async (request) => {
      const list = `works of ${request.environmentId}`;
      const rows = await pageRows(database, listWorks(build, list, request));
      return pageOfRows(list, request, rows, { toRecord: toWork, positionOf: byCreation });
    },

    claim: async ({ workspaceId, environmentId, reclaimMs }) => {
      const { rows } = await database.write<Schema['works']>(CLAIM, [environmentId, workspaceId, reclaimMs]);
      return rows[0] && toWork(rows[0]);
    },

    update: async ({ workspaceId, id, ifRevision, state, leaseMs, data }) => {
      const text = data === undefined ? null : JSON.stringify(data);
      const values = [id, workspaceId, state ?? null, leaseMs !== undefined, leaseMs ?? null, text];
      return database.transaction(async (connection) => {
        const row = found(await firstRow(connection, findWork(build, workspaceId, id).forUpdate()), id);
        checkVersion(id, ifRevision, row.revision);
        return toWork((await connection.query<Schema['works']>(UPDATE, values)).rows[0]!);
      });
    },

    count: async ({ workspaceId, environmentId }) =>
      (await database.read<WorkCounts>(COUNT, [environmentId, workspaceId])).rows[0]!,
  };
}

const ABANDONED = `w.state IN ('starting', 'active') AND w.leased_until <= @now`;
// Concurrent workers take different items: an item that is being taken is skipped.
const CLAIM = `
  UPDATE ~works SET state = 'queued', claimed_at = @now, leased_until = NULL, revision = revision + 1
  WHERE id = (
    SELECT w.id FROM ~works w JOIN ~sessions s ON s.key = w.session_key
    WHERE w.environment_id = $1 AND w.workspace_id = $2 AND w.state <> 'stopped' AND s.status <> 'terminated'
      AND (w.state = 'queued' AND (w.claimed_at IS NULL OR w.claimed_at <= @now - $3::int8) OR ${ABANDONED})
      AND NOT EXISTS (
        SELECT FROM ~works o WHERE o.session_key = w.session_key AND o.id <> w.id
          AND o.state IN ('starting', 'active', 'stopping') AND o.leased_until > @now
      )
    ORDER BY w.created_at, w.id LIMIT 1 FOR UPDATE OF w SKIP LOCKED
  )
  RETURNING *`;
const UPDATE = `
  UPDATE ~works SET
    revision = revision + 1, state = coalesce($3, state), data = coalesce($6::json, data),
    leased_until = CASE WHEN $4::bool THEN @now + $5::int8 ELSE leased_until END
  WHERE id = $1 AND workspace_id = $2
  RETURNING *`;
const COUNT = `
  SELECT
    count(*) FILTER (WHERE NOT is_claimed) AS waiting, count(*) FILTER (WHERE is_claimed) AS claimed,
    min(created_at) AS "oldestAt"
  FROM (
    SELECT w.created_at, w.state = 'queued' AND w.claimed_at IS NOT NULL AS is_claimed
    FROM ~works w JOIN ~sessions s ON s.key = w.session_key
    WHERE s.status <> 'terminated' AND (w.state = 'queued' OR ${ABANDONED})
      AND w.environment_id = $1 AND w.workspace_id = $2
  ) AS open`;
