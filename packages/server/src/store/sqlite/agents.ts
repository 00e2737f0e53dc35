import type { InferResult } from 'kysely';
import { checkNew, checkNotArchived, checkVersion, found } from '../guards.ts';
import { toPage, toSeek } from '../page.ts';
import type { AgentRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import { byCreation, createdBetween, parseData, seekBehind } from './lists.ts';
import { allRows, build, firstRow, runQuery } from './schema.ts';

export function createAgents(database: Database): Store['agents'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }) =>
      database.transaction(() => {
        checkNew(firstRow(database, build.selectFrom('agents').select('id').where('id', '=', id)), id);
        const row = { id, workspace_id: workspaceId, version: 1, created_at: createdAt, archived_at: null };
        runQuery(database, build.insertInto('agents').values(row));
        insertVersion(id, 1, createdAt, data);
        return get(workspaceId, id)!;
      }),

    addVersion: async ({ workspaceId, id, ifVersion, data, updatedAt }) =>
      database.transaction(() => {
        const agent = found(get(workspaceId, id), id);
        checkNotArchived(id, agent.archivedAt);
        checkVersion(id, ifVersion, agent.version);
        const version = agent.version + 1;
        runQuery(database, build.updateTable('agents').set({ version }).where('id', '=', id));
        insertVersion(id, version, updatedAt, data);
        return get(workspaceId, id)!;
      }),

    get: async (workspaceId, id, version) => get(workspaceId, id, version),

    list: async (request) => {
      const { workspaceId, includeArchived = false } = request;
      const seek = toSeek('agents', request);
      let query = versions().whereRef('v.version', '=', 'a.version').where('a.workspace_id', '=', workspaceId);
      if (!includeArchived) query = query.where('a.archived_at', 'is', null);
      const timed = query
        .where(createdBetween('a.created_at', request))
        .where(seekBehind('a.created_at', 'a.id', seek));
      const sorted = timed.orderBy('a.created_at', seek.order).orderBy('a.id', seek.order).limit(seek.limit);
      return toPage('agents', request, allRows(database, sorted).map(toAgent), byCreation);
    },

    listVersions: async (request) => {
      const { workspaceId, id } = request;
      found(get(workspaceId, id), id);
      const list = `versions of ${id}`;
      const seek = toSeek(list, request);
      const query = versions()
        .where('a.id', '=', id)
        .where(seekBehind('v.version', 'v.agent_id', seek));
      const rows = allRows(database, query.orderBy('v.version', seek.order).limit(seek.limit));
      return toPage(list, request, rows.map(toAgent), ({ version }) => ({ time: version, id }));
    },

    archive: async (workspaceId, id, time) =>
      database.transaction(() => {
        const { archivedAt } = found(get(workspaceId, id), id);
        const archived = { archived_at: archivedAt ?? time };
        runQuery(database, build.updateTable('agents').set(archived).where('id', '=', id));
        return get(workspaceId, id)!;
      }),
  };

  function get(workspaceId: string, id: string, version?: number): AgentRecord | undefined {
    const mine = versions().where('a.id', '=', id).where('a.workspace_id', '=', workspaceId);
    const query =
      version === undefined ? mine.whereRef('v.version', '=', 'a.version') : mine.where('v.version', '=', version);
    const row = firstRow(database, query);
    return row && toAgent(row);
  }

  function insertVersion(id: string, version: number, updatedAt: number, data: object): void {
    const row = { agent_id: id, version, updated_at: updatedAt, data: JSON.stringify(data) };
    runQuery(database, build.insertInto('agent_versions').values(row));
  }
}

function versions() {
  const joined = build.selectFrom('agents as a').innerJoin('agent_versions as v', 'v.agent_id', 'a.id');
  return joined.select(['a.id', 'workspace_id', 'created_at', 'archived_at', 'v.version', 'v.updated_at', 'v.data']);
}

type AgentRow = InferResult<ReturnType<typeof versions>>[number];

function toAgent(row: AgentRow): AgentRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}
