import type { BlobParts } from '../blobs.ts';
import type { Database } from './database.ts';

export function createBlobParts(database: Database): BlobParts {
  // Only this process uses the file, so the process that was writing these blobs is dead.
  database.prepare('DELETE FROM blobs WHERE id IS NULL').run();
  return {
    // In a transaction: the driver ignores that the commit of a statement with RETURNING failed, as on a full disk.
    begin: async () => database.transaction(() => database.prepare<{ key: number }>(BEGIN).get()!.key),
    add: async (key, index, bytes) => void database.prepare(ADD).run(key, index, bytes),
    finish: async (key, id, { parts, bytes }) =>
      database.transaction(() => {
        database.prepare(DELETE).run(id);
        database.prepare(FINISH).run(id, parts, bytes, key);
      }),
    discard: async (key) => void database.prepare('DELETE FROM blobs WHERE key = ?').run(key),
    find: async (id) => database.prepare<Found>('SELECT key, parts, bytes FROM blobs WHERE id = ?').get(id),
    get: async (key, index) => database.prepare<{ data: Uint8Array }>(GET).get(key, index)?.data,
    delete: async (id) => void database.prepare(DELETE).run(id),
  };
}

type Found = NonNullable<Awaited<ReturnType<BlobParts['find']>>>;

// RETURNING, because the two versions of the driver report the last row id differently.
const BEGIN = 'INSERT INTO blobs (id, parts, bytes) VALUES (NULL, 0, 0) RETURNING key';
const ADD = 'INSERT INTO blob_parts (blob_key, part, data) VALUES (?, ?, ?)';
const FINISH = 'UPDATE blobs SET id = ?, parts = ?, bytes = ? WHERE key = ?';
const GET = 'SELECT data FROM blob_parts WHERE blob_key = ? AND part = ?';
const DELETE = 'DELETE FROM blobs WHERE id = ?';
