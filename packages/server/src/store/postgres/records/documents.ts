import { checkVersion } from '../../guards.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { countDocumentsOfWorkspace, findDocument, listDocuments, listDocumentsOfWorkspace } from '../../sql/queries.ts';
import { toDocument } from '../../sql/records.ts';
import type { Schema } from '../../sql/schema.ts';
import type { Store } from '../../store.ts';
import { storeError } from '../../store-errors.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import { appendAudit, writeAudited } from '../audit/audit-log.ts';
import type { Connection } from '../connection.ts';
import type { Database } from '../database.ts';

export function createDocuments(database: Database, build: Build): Store['documents'] {
  return {
    get: (kind, id) => get(kind, id),

    getAll: async (kind, ids) => {
      if (ids.length === 0) return [];
      const { rows } = await database.read<Schema['documents']>(GET_ALL, [kind, ids]);
      return rows.map(toDocument);
    },

    put: async (document, audit) => {
      const [sql, values] = toPut(document);
      const { rows } = await writeAudited<Schema['documents']>(database, audit, { sql, values });
      return rows[0] === undefined ? await refuse(database, document) : toDocument(rows[0]);
    },

    change: async (changes, audit) => {
      // In the same order for all callers, to avoid deadlocks.
      const sorted = changes.toSorted((a, b) => (`${a.kind} ${a.id}` < `${b.kind} ${b.id}` ? -1 : 1));
      await database.transaction(async (connection) => {
        for (const change of sorted) {
          const { count } = await connection.query(...(change.type === 'put' ? toPut(change) : toDelete(change)));
          if (count === 0 && (change.type === 'put' || change.ifRevision !== undefined)) {
            await refuse(connection, change);
          }
        }
        await appendAudit(connection, audit);
      });
    },

    list: async (request) => {
      const list = `documents of ${request.kind}`;
      const rows = await pageRows(database, listDocuments(build, list, request));
      return pageOfRows(list, request, rows, { toRecord: toDocument, positionOf: ({ id }) => ({ time: 0, id }) });
    },

    listOfWorkspace: async (request) =>
      (await pageRows(database, listDocumentsOfWorkspace(build, request))).map(toDocument),

    countOfWorkspace: async ({ kind, workspaceId, max }) =>
      Number((await firstRow(database, countDocumentsOfWorkspace(build, kind, workspaceId, max)))!.count),

    delete: async (kind, id, audit) => {
      const [sql, values] = toDelete({ kind, id });
      await writeAudited(database, audit, { sql, values });
    },
  };

  async function get(kind: string, id: string, on: Connection | Database = database) {
    const row = await firstRow(on, findDocument(build, kind, id));
    return row && toDocument(row);
  }

  async function refuse(on: Connection | Database, { kind, id, ifRevision }: Omit<Put, 'data'>): Promise<never> {
    const name = `${kind} ${id}`;
    checkVersion(name, ifRevision, (await get(kind, id, on))?.revision ?? 0);
    throw storeError('version_conflict', `${name} was changed at the same moment`);
  }
}

type Put = Parameters<Store['documents']['put']>[0];

function toPut({ kind, id, data, ifRevision }: Put): [sql: string, values: readonly unknown[]] {
  const sql = ifRevision === undefined ? PUT : ifRevision === 0 ? CREATE : UPDATE;
  return [sql, [kind, id, JSON.stringify(data), ...(sql === UPDATE ? [ifRevision] : [])]];
}

function toDelete({ kind, id, ifRevision }: Omit<Put, 'data'>): [sql: string, values: readonly unknown[]] {
  return ifRevision === undefined ? [DELETE, [kind, id]] : [`${DELETE} AND revision = $3`, [kind, id, ifRevision]];
}

const DELETE = 'DELETE FROM ~documents WHERE kind = $1 AND id = $2';

const GET_ALL = 'SELECT * FROM ~documents WHERE kind = $1 AND id = ANY ($2)';
const INSERT = 'INSERT INTO ~documents AS d (kind, id, revision, updated_at, data) VALUES ($1, $2, 1, @now, $3)';
const CREATE = `${INSERT} ON CONFLICT (kind, id) DO NOTHING RETURNING *`;
const PUT = `${INSERT} ON CONFLICT (kind, id) DO UPDATE SET
  revision = d.revision + 1, updated_at = excluded.updated_at, data = excluded.data RETURNING *`;
const UPDATE = `
  UPDATE ~documents SET revision = revision + 1, updated_at = @now, data = $3
  WHERE kind = $1 AND id = $2 AND revision = $4 RETURNING *`;
