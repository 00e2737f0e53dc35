import type { BlobParts, BlobSize } from '../blobs.ts';
import { found } from '../guards.ts';
import type { Database } from './database.ts';

export function createBlobParts(database: Database): BlobParts {
  return {
    begin: async () => (await database.write<{ key: number }>(BEGIN)).rows[0]!.key,

    add: async (key, index, bytes) => {
      // The blob may have been removed as abandoned.
      const { count } = await database.write(ADD, [key, index, bytes]);
      found(count || undefined, 'what was begun');
    },

    finish: (key, id, { parts, bytes }) =>
      database.transaction(async (connection) => {
        const [, finished] = await connection.queries([
          { sql: DELETE, values: [id] },
          { sql: FINISH, values: [key, id, parts, bytes] },
        ]);
        found(finished!.count || undefined, 'what was begun');
      }),

    discard: async (key) => void (await database.write('DELETE FROM ~blobs WHERE key = $1', [key])),

    find: async (id) => {
      const sql = 'SELECT key, parts, bytes FROM ~blobs WHERE id = $1';
      return (await database.read<{ key: number } & BlobSize>(sql, [id])).rows[0];
    },

    get: async (key, index) => {
      const sql = 'SELECT data FROM ~blob_parts WHERE blob_key = $1 AND part = $2';
      return (await database.read<{ data: Uint8Array }>(sql, [key, index])).rows[0]?.data;
    },

    delete: async (id) => void (await database.write(DELETE, [id])),
  };
}

const BEGIN = 'INSERT INTO ~blobs (parts, bytes, touched_at) VALUES (0, 0, @now) RETURNING key';
const ADD = `
  WITH begun AS (UPDATE ~blobs SET touched_at = @now WHERE key = $1 RETURNING key)
  INSERT INTO ~blob_parts (blob_key, part, data) SELECT key, $2, $3 FROM begun`;
const FINISH = 'UPDATE ~blobs SET id = $2, parts = $3, bytes = $4, touched_at = @now WHERE key = $1';
const DELETE = 'DELETE FROM ~blobs WHERE id = $1';
