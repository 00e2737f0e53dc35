import type { Clock } from '../../base/clock.ts';
import { CLIENT_OWNER } from '../lease-owners.ts';
import { storeLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import { found } from '../guards.ts';
import type { Leases } from '../store.ts';
import type { Database } from './database.ts';
import type { Segments } from './segments.ts';

export function createLeases(database: Database, segments: Segments, clock: Clock): Leases {
  // Only this process uses the file, so every earlier holder of a lease is dead, and its leases need not expire first. Clients outlive the server.
  database.prepare('UPDATE owners SET owner = NULL WHERE owner NOT LIKE ?').run(`${CLIENT_OWNER}%`);
  return {
    acquire: async ({ sessionId, owner, ttlMs }) =>
      database.transaction(() => {
        const place = found(segments.place(sessionId), sessionId);
        const isHeld = place.owner !== null && place.owner !== owner && place.expiresAt > clock.now();
        if (isHeld) return { ok: false, owner: place.owner, expiresAt: place.expiresAt };
        const fence = place.fence + 1;
        const expiresAt = clock.now() + ttlMs;
        database.prepare(ACQUIRE).run(fence, owner, expiresAt, place.key);
        return { ok: true, fence, head: place.head, expiresAt };
      }),

    renew: async ({ owner, ttlMs, leases }) => {
      const lost: string[] = [];
      // Some at a time: a transaction holds the event loop, and there may be thousands.
      for (let at = 0; at < leases.length; at += storeLimits.storeSliceRowsMax) {
        database.transaction(() => {
          const expiresAt = clock.now() + ttlMs;
          const renew = database.prepare(RENEW);
          for (const { sessionId, fence } of leases.slice(at, at + storeLimits.storeSliceRowsMax)) {
            if (renew.run(expiresAt, owner, fence, sessionId) === 0) lost.push(sessionId);
          }
        });
        await yieldToEventLoop();
      }
      return lost;
    },

    release: async ({ sessionId, fence }) => {
      database.prepare(RELEASE).run(fence, sessionId);
    },

    findOwner: async (sessionId) => {
      const place = segments.place(sessionId);
      return place?.owner != null && place.expiresAt > clock.now() ? place.owner : undefined;
    },

    findWithInputs: async (owner) => {
      const rows = database.prepare<{ id: string }>(WITH_INPUTS).all(owner);
      return rows.map(({ id }) => id);
    },

    findOrphans: async (limit) => {
      const rows = database.prepare<{ id: string }>(ORPHANS).all(clock.now(), limit);
      return rows.map(({ id }) => id);
    },
  };
}

const ACQUIRE = 'UPDATE owners SET fence = ?, owner = ?, expires_at = ? WHERE session_key = ?';
const MINE = 'fence = ? AND session_key = (SELECT key FROM sessions WHERE id = ?)';
const RENEW = `UPDATE owners SET expires_at = ? WHERE owner = ? AND ${MINE}`;
const RELEASE = `UPDATE owners SET owner = NULL, fence = fence + 1 WHERE ${MINE}`;
const WITH_INPUTS = `
  SELECT s.id FROM (SELECT DISTINCT session_key FROM inputs) i
  JOIN owners o ON o.session_key = i.session_key JOIN sessions s ON s.key = i.session_key
  WHERE o.owner = ?`;
const ORPHANS = `
  SELECT s.id FROM sessions s JOIN owners o ON o.session_key = s.key
  WHERE s.key IN (
    SELECT key FROM sessions WHERE status IN ('running', 'rescheduling') UNION SELECT session_key FROM inputs
  ) AND (o.owner IS NULL OR o.expires_at <= ?)
  LIMIT ?`;
