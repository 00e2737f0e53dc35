import type { KeyRecord } from '../../records.ts';
import { parseData } from '../../sql/records.ts';
import type { Store } from '../../store.ts';
import type { Database } from '../database.ts';

export function createKeys(database: Database): Store['keys'] {
  return {
    get: (workspaceId, key) => get(workspaceId, key),

    putIfAbsent: async ({ workspaceId, key, expiresAt, result, replaces = false }) => {
      const values = [workspaceId, key, expiresAt, JSON.stringify(result), replaces];
      while (true) {
        const { count } = await database.write(PUT, values);
        const record = await get(workspaceId, key);
        if (record !== undefined) return { isNew: count > 0, record };
        // The key was stored, and has expired already.
        if (count > 0)
          return { isNew: true, record: { workspaceId, key, expiresAt, result: parseData(values[3] as string) } };
        // The existing key expired between the two statements.
      }
    },
  };

  async function get(workspaceId: string, key: string): Promise<KeyRecord | undefined> {
    const { rows } = await database.read<{ expires_at: number; result: string }>(GET, [workspaceId, key]);
    return rows[0] && { workspaceId, key, expiresAt: rows[0].expires_at, result: parseData(rows[0].result) };
  }
}

const GET = `
  SELECT expires_at, result FROM ~idempotency_keys WHERE workspace_id = $1 AND key = $2 AND expires_at > @now`;
const PUT = `
  INSERT INTO ~idempotency_keys AS k (workspace_id, key, expires_at, result) VALUES ($1, $2, $3, $4)
  ON CONFLICT (workspace_id, key) DO UPDATE SET expires_at = excluded.expires_at, result = excluded.result
  WHERE $5::bool OR k.expires_at <= @now`;
