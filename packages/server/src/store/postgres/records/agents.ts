import { checkNew, checkNotArchived, checkVersion, found } from '../../guards.ts';
import { toSeek } from '../../page.ts';
import type { AgentRecord } from '../../records.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findAgent, listAgents, listVersions } from '../../sql/queries.ts';
import { toAgent } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import { appendAudit, writeAudited } from '../audit/audit-log.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';

export function createAgents(database: Database, build: Build): Store['agents'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }, audit) => {
      const values = [id, workspaceId, createdAt, JSON.stringify(data)];
      const { count } = await writeAudited(database, audit, { sql: CREATE, values });
      if (count === 0) checkNew({}, id);
      return found(await get(database, workspaceId, id), id);
    },

    addVersion: async ({ workspaceId, id, ifVersion, data, updatedAt }, audit) => {
      const text = JSON.stringify(data);
      return database.transaction(async (connection) => {
        const agent = await lock(connection, workspaceId, id);
        checkNotArchived(id, agent.archivedAt);
        checkVersion(id, ifVersion, agent.version);
        const version = agent.version + 1;
        await connection.queries([
          { sql: 'INSERT INTO ~agent_versions VALUES ($1, $2, $3, $4)', values: [id, version, updatedAt, text] },
          { sql: 'UPDATE ~agents SET version = $2 WHERE id = $1', values: [id, version] },
        ]);
        const record = (await get(connection, workspaceId, id))!;
        await appendAudit(connection, audit);
        return record;
      });
    },

    get: (workspaceId, id, version) => get(database, workspaceId, id, version),

    list: async (request) => {
      const rows = await pageRows(database, listAgents(build, request));
      return pageOfRows('agents', request, rows, { toRecord: toAgent, positionOf: byCreation });
    },

    listVersions: async (request) => {
      const { workspaceId, id } = request;
      const list = `versions of ${id}`;
      const seek = toSeek(list, request);
      found(await get(database, workspaceId, id), id);
      const rows = await pageRows(database, listVersions(build, id, seek));
      return pageOfRows(list, request, rows, {
        toRecord: toAgent,
        positionOf: ({ version }) => ({ time: version, id }),
      });
    },

    archive: (workspaceId, id, time, audit) =>
      database.transaction(async (connection) => {
        const { archivedAt } = await lock(connection, workspaceId, id);
        await connection.query('UPDATE ~agents SET archived_at = $2 WHERE id = $1', [id, archivedAt ?? time]);
        const record = (await get(connection, workspaceId, id))!;
        await appendAudit(connection, audit);
        return record;
      }),
  };

  async function get(on: Connection | Database, workspaceId: string, id: string, version?: number) {
    const row = await firstRow(on, findAgent(build, workspaceId, id, version));
    return row && toAgent(row);
  }

  /** Two statements, so that the row read after the lock is current. */
  async function lock(connection: Connection, workspaceId: string, id: string): Promise<AgentRecord> {
    await connection.query('SELECT FROM ~agents WHERE id = $1 FOR UPDATE', [id]);
    return found(await get(connection, workspaceId, id), id);
  }
}

const CREATE = `
  WITH made AS (
    INSERT INTO ~agents (id, workspace_id, version, created_at) VALUES ($1, $2, 1, $3)
    ON CONFLICT (id) DO NOTHING RETURNING id
  )
  INSERT INTO ~agent_versions (agent_id, version, updated_at, data) SELECT id, 1, $3, $4::json FROM made`;
