import { found } from '../guards.ts';
import type { Acquired, Leases } from '../store.ts';
import type { Database } from './database.ts';

export function createLeases(database: Database, node: string): Leases {
  return {
    acquire: async ({ sessionId, owner, ttlMs }) => {
      while (true) {
        const { rows } = await database.write<Taken>(ACQUIRE, [sessionId, owner, ttlMs]);
        if (rows[0] !== undefined) return { ok: true, ...rows[0] };
        const held = await database.read<Holder>(HOLDER, [sessionId]);
        const { isFree, ...holder } = found(held.rows[0], sessionId);
        // The lease may have become free between the two statements; then another attempt is made.
        if (!isFree) return { ok: false, ...holder };
      }
    },

    renew: async ({ owner, ttlMs, leases }) => {
      const ids = leases.map(({ sessionId }) => sessionId);
      const fences = leases.map(({ fence }) => fence);
      const { rows } = await database.write<{ session_id: string }>(RENEW, [ids, fences, owner, ttlMs]);
      const kept = new Set(rows.map(({ session_id: id }) => id));
      return ids.filter((id) => !kept.has(id));
    },

    release: async ({ sessionId, fence }) => {
      await database.write(RELEASE, [sessionId, fence]);
    },

    findOwner: async (sessionId) => {
      const { rows } = await database.read<Holder>(HOLDER, [sessionId]);
      return rows[0] === undefined || rows[0].isFree ? undefined : rows[0].owner;
    },

    findWithInputs: async (owner) => {
      const { rows } = await database.read<{ session_id: string }>(WITH_INPUTS, [owner]);
      return rows.map(({ session_id: id }) => id);
    },

    findOrphans: async (limit) => {
      const { rows } = await database.read<{ session_id: string }>(ORPHANS, [limit, node]);
      return rows.map(({ session_id: id }) => id);
    },
  };
}

type Taken = Omit<Extract<Acquired, { ok: true }>, 'ok'>;
type Holder = Omit<Extract<Acquired, { ok: false }>, 'ok'> & { readonly isFree: boolean };

// A statement that waits for the row then sees its new state, so only one of two finds it free.
const ACQUIRE = `
  UPDATE ~logs SET fence = fence + 1, owner = $2, expires_at = @now + $3
  WHERE session_id = $1 AND (owner IS NULL OR owner = $2 OR expires_at <= @now)
  RETURNING fence, head, expires_at AS "expiresAt"`;
const HOLDER = `
  SELECT owner, expires_at AS "expiresAt", owner IS NULL OR expires_at <= @now AS "isFree"
  FROM ~logs WHERE session_id = $1`;
const RENEW = `
  WITH mine AS MATERIALIZED (
    SELECT l.session_key FROM unnest($1::text[], $2::int8[]) AS g (session_id, fence)
    JOIN ~logs l ON l.session_id = g.session_id AND l.fence = g.fence AND l.owner = $3
    ORDER BY l.session_id FOR UPDATE OF l
  )
  UPDATE ~logs l SET expires_at = @now + $4 FROM mine WHERE l.session_key = mine.session_key RETURNING l.session_id`;
const RELEASE = 'UPDATE ~logs SET owner = NULL, fence = fence + 1 WHERE session_id = $1 AND fence = $2';
// From the inputs, which are few, and not from the sessions of an owner, which may be thousands.
const WITH_INPUTS = `
  SELECT l.session_id FROM (SELECT DISTINCT session_key FROM ~inputs) i
  JOIN ~logs l ON l.session_key = i.session_key WHERE l.owner = $1`;
// In a different order for each process, so that processes do not compete for the same sessions of a dead one.
const ORPHANS = `
  SELECT l.session_id FROM ~logs l
  WHERE l.session_key IN (
    SELECT session_key FROM ~busy UNION SELECT session_key FROM ~inputs
  ) AND (l.owner IS NULL OR l.expires_at <= @now)
  ORDER BY hashtext(l.session_id || $2) LIMIT $1`;
