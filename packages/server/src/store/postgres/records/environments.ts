import { checkNew, checkNotArchived, checkVersion, found } from '../../guards.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findEnvironment, listEnvironments } from '../../sql/queries.ts';
import { toEnvironment } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import { appendAudit, writeAudited } from '../audit/audit-log.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';

export function createEnvironments(database: Database, build: Build): Store['environments'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }, audit) => {
      const values = [id, workspaceId, createdAt, JSON.stringify(data)];
      const { count } = await writeAudited(database, audit, { sql: CREATE, values });
      if (count === 0) checkNew({}, id);
      return found(await get(database, workspaceId, id), id);
    },

    update: async ({ workspaceId, id, ifRevision, data, updatedAt }, audit) => {
      const text = JSON.stringify(data);
      return database.transaction(async (connection) => {
        const { archivedAt, revision } = await lock(connection, workspaceId, id);
        checkNotArchived(id, archivedAt);
        checkVersion(id, ifRevision, revision);
        await connection.query(UPDATE, [id, text, updatedAt]);
        const record = (await get(connection, workspaceId, id))!;
        await appendAudit(connection, audit);
        return record;
      });
    },

    get: (workspaceId, id) => get(database, workspaceId, id),

    list: async (request) => {
      const rows = await pageRows(database, listEnvironments(build, request));
      return pageOfRows('environments', request, rows, { toRecord: toEnvironment, positionOf: byCreation });
    },

    archive: (workspaceId, id, time, audit) =>
      database.transaction(async (connection) => {
        const { archivedAt } = await lock(connection, workspaceId, id);
        await connection.query('UPDATE ~environments SET archived_at = $2 WHERE id = $1', [id, archivedAt ?? time]);
        const record = (await get(connection, workspaceId, id))!;
        await appendAudit(connection, audit);
        return record;
      }),

    delete: async (workspaceId, id, audit) => {
      const sql = 'DELETE FROM ~environments WHERE id = $1 AND workspace_id = $2';
      const { count } = await writeAudited(database, audit, { sql, values: [id, workspaceId] });
      found(count || undefined, id);
    },
  };

  async function get(on: Connection | Database, workspaceId: string, id: string) {
    const row = await firstRow(on, findEnvironment(build, workspaceId, id));
    return row && toEnvironment(row);
  }

  async function lock(connection: Connection, workspaceId: string, id: string) {
    const row = await firstRow(connection, findEnvironment(build, workspaceId, id).forUpdate());
    return toEnvironment(found(row, id));
  }
}

const CREATE = `
  INSERT INTO ~environments (id, workspace_id, revision, created_at, updated_at, data) VALUES ($1, $2, 1, $3, $3, $4)
  ON CONFLICT (id) DO NOTHING`;
const UPDATE = 'UPDATE ~environments SET data = $2, updated_at = $3, revision = revision + 1 WHERE id = $1';
