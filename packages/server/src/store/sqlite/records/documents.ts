import type { Clock } from '../../../base/clock.ts';
import { checkVersion } from '../../guards.ts';
import type { DocumentRecord } from '../../records.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { countDocumentsOfWorkspace, findDocument, listDocuments, listDocumentsOfWorkspace } from '../../sql/queries.ts';
import { toDocument } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import { build, eachRow, firstRow, runQuery } from '../build.ts';
import type { AppendAudit } from '../audit-log.ts';
import type { Database } from '../database.ts';

export function createDocuments(database: Database, append: AppendAudit, clock: Clock): Store['documents'] {
  return {
    get: async (kind, id) => get(kind, id),

    // Each query runs in this process, so a combined query would not be faster.
    getAll: async (kind, ids) => [...new Set(ids)].flatMap((id) => get(kind, id) ?? []),

    put: async (document, audit) =>
      database.transaction(() => {
        put(document);
        append(audit);
        return get(document.kind, document.id)!;
      }),

    change: async (changes, audit) =>
      database.transaction(() => {
        for (const change of changes) {
          if (change.type === 'put') put(change);
          else remove(change);
        }
        append(audit);
      }),

    list: async (request) => {
      const list = `documents of ${request.kind}`;
      const rows = eachRow(database, listDocuments(build, list, request));
      return pageOfRows(list, request, rows, { toRecord: toDocument, positionOf: ({ id }) => ({ time: 0, id }) });
    },

    listOfWorkspace: async (request) =>
      [...eachRow(database, listDocumentsOfWorkspace(build, request))].map(toDocument),

    countOfWorkspace: async ({ kind, workspaceId, max }) =>
      Number(firstRow(database, countDocumentsOfWorkspace(build, kind, workspaceId, max))!.count),

    delete: async (kind, id, audit) =>
      database.transaction(() => {
        if (remove({ kind, id }) > 0) append(audit);
      }),
  };

  function put({ kind, id, data, ifRevision }: Parameters<Store['documents']['put']>[0]): void {
    const before = get(kind, id)?.revision ?? 0;
    checkVersion(`${kind} ${id}`, ifRevision, before);
    const columns = { revision: before + 1, updated_at: clock.now(), data: JSON.stringify(data) };
    const insert = build.insertInto('documents').values({ kind, id, ...columns });
    runQuery(
      database,
      insert.onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet(columns)),
    );
  }

  function remove({ kind, id, ifRevision }: { kind: string; id: string; ifRevision?: number }): number {
    if (ifRevision !== undefined) checkVersion(`${kind} ${id}`, ifRevision, get(kind, id)?.revision ?? 0);
    return runQuery(database, build.deleteFrom('documents').where('kind', '=', kind).where('id', '=', id));
  }

  function get(kind: string, id: string): DocumentRecord | undefined {
    const row = firstRow(database, findDocument(build, kind, id));
    return row && toDocument(row);
  }
}
