import type { Clock } from '../../base/clock.ts';
import { found } from '../guards.ts';
import type { Leases } from '../store.ts';
import type { State } from './state.ts';

export function createLeases(state: State, clock: Clock): Leases {
  return {
    acquire: async ({ sessionId, owner, ttlMs }) => {
      const log = found(state.logs.get(sessionId), sessionId);
      const isHeld = log.owner !== null && log.owner !== owner && log.expiresAt > clock.now();
      if (isHeld) return { ok: false, owner: log.owner, expiresAt: log.expiresAt };
      const fence = log.fence + 1;
      const expiresAt = clock.now() + ttlMs;
      state.logs.set(sessionId, { ...log, owner, fence, expiresAt });
      return { ok: true, fence, head: log.head, expiresAt };
    },

    renew: async ({ owner, ttlMs, leases }) => {
      const isLost = leases.map(({ sessionId, fence }) => {
        const log = state.logs.get(sessionId);
        if (log?.owner !== owner || log.fence !== fence) return true;
        state.logs.set(sessionId, { ...log, expiresAt: clock.now() + ttlMs });
        return false;
      });
      return leases.filter((_, index) => isLost[index]).map(({ sessionId }) => sessionId);
    },

    release: async ({ sessionId, fence }) => {
      const log = state.logs.get(sessionId);
      if (log?.fence === fence) state.logs.set(sessionId, { ...log, owner: null, fence: fence + 1 });
    },

    findOwner: async (sessionId) => {
      const log = state.logs.get(sessionId);
      return log?.owner != null && log.expiresAt > clock.now() ? log.owner : undefined;
    },

    findWithInputs: async (owner) => {
      const withInput = new Set(state.inputs.values().map(({ sessionId }) => sessionId));
      return [...withInput].filter((sessionId) => state.logs.get(sessionId)?.owner === owner);
    },

    findOrphans: async (limit) => {
      const withInput = new Set(state.inputs.values().map(({ sessionId }) => sessionId));
      const orphans = state.sessions.values().filter(({ id, status }) => {
        const log = state.logs.get(id)!;
        const hasOwner = log.owner !== null && log.expiresAt > clock.now();
        return !hasOwner && (status === 'running' || status === 'rescheduling' || withInput.has(id));
      });
      return orphans.map(({ id }) => id).slice(0, limit);
    },
  };
}
