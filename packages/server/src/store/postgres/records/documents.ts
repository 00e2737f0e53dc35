import { checkVersion } from '../../guards.ts';
import { pageOfRows } from '../../sql/page-of-rows.ts';
import { countDocumentsOfWorkspace, findDocument, listDocuments, listDocumentsOfWorkspace } from '../../sql/queries.ts';
import { toDocument } from '../../sql/records.ts';
import type { Schema } from '../../sql/schema.ts';
import type { Store } from '../../store.ts';
import { storeError } from '../../store-errors.ts';
import { type Build, firstRow, pageRows } from '../build.ts';
import { writeAudited } from '../audit/audit-log.ts';
import type { Database } from '../database.ts';

export function createDocuments(database: Database, build: Build): Store['documents'] {
  return {
    get: (kind, id) => get(kind, id),

    getAll: async (kind, ids) => {
      if (ids.length === 0) return [];
      const { rows } = await database.read<Schema['documents']>(GET_ALL, [kind, ids]);
      return rows.map(toDocument);
    },

    put: async ({ kind, id, data, ifRevision }, audit) => {
      const sql = ifRevision === undefined ? PUT : ifRevision === 0 ? CREATE : UPDATE;
      const values = [kind, id, JSON.stringify(data), ...(sql === UPDATE ? [ifRevision] : [])];
      const { rows } = await writeAudited<Schema['documents']>(database, audit, { sql, values });
      if (rows[0] !== undefined) return toDocument(rows[0]);
      const name = `${kind} ${id}`;
      checkVersion(name, ifRevision, (await get(kind, id))?.revision ?? 0);
      throw storeError('version_conflict', `${name} was changed at the same moment`);
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
      const sql = 'DELETE FROM ~documents WHERE kind = $1 AND id = $2';
      await writeAudited(database, audit, { sql, values: [kind, id] });
    },
  };

  async function get(kind: string, id: string) {
    const row = await firstRow(database, findDocument(build, kind, id));
    return row && toDocument(row);
  }
}

const GET_ALL = 'SELECT * FROM ~documents WHERE kind = $1 AND id = ANY ($2)';
const INSERT = 'INSERT INTO ~documents AS d (kind, id, revision, updated_at, data) VALUES ($1, $2, 1, @now, $3)';
const CREATE = `${INSERT} ON CONFLICT (kind, id) DO NOTHING RETURNING *`;
const PUT = `${INSERT} ON CONFLICT (kind, id) DO UPDATE SET
  revision = d.revision + 1, updated_at = excluded.updated_at, data = excluded.data RETURNING *`;
const UPDATE = `
  UPDATE ~documents SET revision = revision + 1, updated_at = @now, data = $3
  WHERE kind = $1 AND id = $2 AND revision = $4 RETURNING *`;
