import { checkNew, checkNotArchived, checkVersion, found } from '../../guards.ts';
import { toSeek } from '../../page.ts';
import type { AgentRecord } from '../../records.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findAgent, listAgents, listVersions } from '../../sql/queries.ts';
import { toAgent } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { build, builtOnce, eachRow, firstRow, runQuery } from '../build.ts';
import type { AppendAudit } from '../audit-log.ts';
import type { Database } from '../database.ts';

export function createAgents(database: Database, append: AppendAudit): Store['agents'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }, audit) =>
      database.transaction(() => {
        checkNew(firstRow(database, build.selectFrom('agents').select('id').where('id', '=', id)), id);
        const row = { id, workspace_id: workspaceId, version: 1, created_at: createdAt, archived_at: null };
        runQuery(database, build.insertInto('agents').values(row));
        insertVersion(id, 1, createdAt, data);
        append(audit);
        return get(workspaceId, id)!;
      }),

    addVersion: async ({ workspaceId, id, ifVersion, data, updatedAt }, audit) =>
      database.transaction(() => {
        const agent = found(get(workspaceId, id), id);
        checkNotArchived(id, agent.archivedAt);
        checkVersion(id, ifVersion, agent.version);
        const version = agent.version + 1;
        runQuery(database, build.updateTable('agents').set({ version }).where('id', '=', id));
        insertVersion(id, version, updatedAt, data);
        append(audit);
        return get(workspaceId, id)!;
      }),

    get: async (workspaceId, id, version) => get(workspaceId, id, version),

    list: async (request) => {
      const rows = eachRow(database, listAgents(build, request));
      return pageOfRows('agents', request, rows, { toRecord: toAgent, positionOf: byCreation });
    },

    listVersions: async (request) => {
      const { workspaceId, id } = request;
      found(get(workspaceId, id), id);
      const list = `versions of ${id}`;
      const rows = eachRow(database, listVersions(build, id, toSeek(list, request)));
      return pageOfRows(list, request, rows, {
        toRecord: toAgent,
        positionOf: ({ version }) => ({ time: version, id }),
      });
    },

    archive: async (workspaceId, id, time, audit) =>
      database.transaction(() => {
        const { archivedAt } = found(get(workspaceId, id), id);
        const archived = { archived_at: archivedAt ?? time };
        runQuery(database, build.updateTable('agents').set(archived).where('id', '=', id));
        append(audit);
        return get(workspaceId, id)!;
      }),
  };

  function get(workspaceId: string, id: string, version?: number): AgentRecord | undefined {
    const query = version === undefined ? findNewest(workspaceId, id) : findVersion(workspaceId, id, version);
    const row = firstRow(database, query);
    return row && toAgent(row);
  }

  function insertVersion(id: string, version: number, updatedAt: number, data: object): void {
    const row = { agent_id: id, version, updated_at: updatedAt, data: JSON.stringify(data) };
    runQuery(database, build.insertInto('agent_versions').values(row));
  }
}

const findNewest = builtOnce((workspaceId: string, id: string) => findAgent(build, workspaceId, id));
const findVersion = builtOnce((workspaceId: string, id: string, version: number) =>
  findAgent(build, workspaceId, id, version),
);
