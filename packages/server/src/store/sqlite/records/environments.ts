import { checkNew, checkNotArchived, checkVersion, found } from '../../guards.ts';
import type { EnvironmentRecord } from '../../records.ts';
import { byCreation } from '../../sql/lists.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { findEnvironment, listEnvironments } from '../../sql/queries.ts';
import { toEnvironment } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { build, builtOnce, eachRow, firstRow, runQuery } from '../build.ts';
import type { AppendAudit } from '../audit-log.ts';
import type { Database } from '../database.ts';

export function createEnvironments(database: Database, append: AppendAudit): Store['environments'] {
  return {
    create: async ({ id, workspaceId, createdAt, data }, audit) =>
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
        append(audit);
        return get(workspaceId, id)!;
      }),

    update: async ({ workspaceId, id, ifRevision, data, updatedAt }, audit) =>
      database.transaction(() => {
        const { archivedAt, revision } = found(get(workspaceId, id), id);
        checkNotArchived(id, archivedAt);
        checkVersion(id, ifRevision, revision);
        const columns = { data: JSON.stringify(data), updated_at: updatedAt, revision: revision + 1 };
        runQuery(database, build.updateTable('environments').set(columns).where('id', '=', id));
        append(audit);
        return get(workspaceId, id)!;
      }),

    get: async (workspaceId, id) => get(workspaceId, id),

    list: async (request) => {
      const rows = eachRow(database, listEnvironments(build, request));
      return pageOfRows('environments', request, rows, { toRecord: toEnvironment, positionOf: byCreation });
    },

    archive: async (workspaceId, id, time, audit) =>
      database.transaction(() => {
        const { archivedAt } = found(get(workspaceId, id), id);
        const archived = { archived_at: archivedAt ?? time };
        runQuery(database, build.updateTable('environments').set(archived).where('id', '=', id));
        append(audit);
        return get(workspaceId, id)!;
      }),

    delete: async (workspaceId, id, audit) =>
      database.transaction(() => {
        const mine = build.deleteFrom('environments').where('id', '=', id).where('workspace_id', '=', workspaceId);
        found(runQuery(database, mine) || undefined, id);
        append(audit);
      }),
  };

  function get(workspaceId: string, id: string): EnvironmentRecord | undefined {
    const row = firstRow(database, findMine(workspaceId, id));
    return row && toEnvironment(row);
  }
}

const findMine = builtOnce((workspaceId: string, id: string) => findEnvironment(build, workspaceId, id));
