import type { Selectable } from 'kysely';
import { checkNew, checkNotArchived, checkVersion, found } from '../guards.ts';
import { toPage, toSeek } from '../page.ts';
import type { EnvironmentRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Database } from './database.ts';
import { byCreation, createdBetween, parseData, seekBehind } from './lists.ts';
import { allRows, build, firstRow, runQuery, type Schema } from './schema.ts';

export function createEnvironments(database: Database): Store['environments'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }) =>
      database.transaction(() => {
        checkNew(firstRow(database, build.selectFrom('environments').select('id').where('id', '=', id)), id);
        const row = {
          id,
          workspace_id: workspaceId,
          revision: 1,
          created_at: createdAt,
          updated_at: createdAt,
          archived_at: null,
          data: JSON.stringify(data),
        };
        runQuery(database, build.insertInto('environments').values(row));
        return get(workspaceId, id)!;
      }),

    update: async ({ workspaceId, id, ifRevision, data, updatedAt }) =>
      database.transaction(() => {
        const { archivedAt, revision } = found(get(workspaceId, id), id);
        checkNotArchived(id, archivedAt);
        checkVersion(id, ifRevision, revision);
        const columns = { data: JSON.stringify(data), updated_at: updatedAt, revision: revision + 1 };
        runQuery(database, build.updateTable('environments').set(columns).where('id', '=', id));
        return get(workspaceId, id)!;
      }),

    get: async (workspaceId, id) => get(workspaceId, id),

    list: async (request) => {
      const { workspaceId, includeArchived = false } = request;
      const seek = toSeek('environments', request);
      let query = build.selectFrom('environments').selectAll().where('workspace_id', '=', workspaceId);
      if (!includeArchived) query = query.where('archived_at', 'is', null);
      const wanted = query.where(createdBetween('created_at', request)).where(seekBehind('created_at', 'id', seek));
      const sorted = wanted.orderBy('created_at', seek.order).orderBy('id', seek.order).limit(seek.limit);
      return toPage('environments', request, allRows(database, sorted).map(toEnvironment), byCreation);
    },

    archive: async (workspaceId, id, time) =>
      database.transaction(() => {
        const { archivedAt } = found(get(workspaceId, id), id);
        const archived = { archived_at: archivedAt ?? time };
        runQuery(database, build.updateTable('environments').set(archived).where('id', '=', id));
        return get(workspaceId, id)!;
      }),

    delete: async (workspaceId, id) => {
      const mine = build.deleteFrom('environments').where('id', '=', id).where('workspace_id', '=', workspaceId);
      found(runQuery(database, mine) || undefined, id);
    },
  };

  function get(workspaceId: string, id: string): EnvironmentRecord | undefined {
    const mine = build.selectFrom('environments').selectAll().where('id', '=', id);
    const row = firstRow(database, mine.where('workspace_id', '=', workspaceId));
    return row && toEnvironment(row);
  }
}

function toEnvironment(row: Selectable<Schema['environments']>): EnvironmentRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}
