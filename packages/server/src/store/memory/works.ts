import type { Clock } from '../../base/clock.ts';
import { checkVersion, found } from '../guards.ts';
import type { WorkRecord } from '../records.ts';
import type { Store } from '../store.ts';
import { byCreation, pageOf } from './lists.ts';
import { keep, type State } from './state.ts';

export function createWorks(state: State, clock: Clock): Store['works'] {
  const get = (workspaceId: string, id: string) => {
    const work = state.works.get(id);
    return work?.workspaceId === workspaceId ? work : undefined;
  };
  const listOf = (workspaceId: string, environmentId: string) =>
    state.works.values().filter((work) => work.workspaceId === workspaceId && work.environmentId === environmentId);

  return {
    get: async (workspaceId, id) => get(workspaceId, id),

    list: async (request) => {
      const { workspaceId, environmentId } = request;
      return pageOf(`works of ${environmentId}`, listOf(workspaceId, environmentId), request, byCreation);
    },

    claim: async ({ workspaceId, environmentId, reclaimMs }) => {
      const waiting = listOf(workspaceId, environmentId).filter(
        (work) => isWaiting(work, reclaimMs) && !isOver(work) && !hasWorker(work),
      );
      const [first] = waiting.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      if (first === undefined) return undefined;
      const revision = first.revision + 1;
      const claimed = { ...first, state: 'queued', claimedAt: clock.now(), leasedUntil: null, revision };
      return keep(state.works, first.id, claimed);
    },

    update: async ({ workspaceId, id, ifRevision, leaseMs, ...patch }) => {
      const before = found(get(workspaceId, id), id);
      checkVersion(id, ifRevision, before.revision);
      const leasedUntil = leaseMs === undefined ? before.leasedUntil : leaseMs === null ? null : clock.now() + leaseMs;
      return keep(state.works, id, { ...before, ...patch, leasedUntil, revision: before.revision + 1 });
    },

    count: async ({ workspaceId, environmentId }) => {
      const open = listOf(workspaceId, environmentId).filter((work) => !isOver(work));
      const claimed = open.filter((work) => work.state === 'queued' && work.claimedAt !== null);
      const waiting = open.filter((work) => (work.state === 'queued' && work.claimedAt === null) || isAbandoned(work));
      const times = [...claimed, ...waiting].map(({ createdAt }) => createdAt);
      const oldestAt = times.length === 0 ? null : times.reduce((oldest, time) => Math.min(oldest, time));
      return { waiting: waiting.length, claimed: claimed.length, oldestAt };
    },
  };

  function isWaiting(work: WorkRecord, reclaimMs: number): boolean {
    const { claimedAt } = work;
    if (work.state !== 'queued') return isAbandoned(work);
    return claimedAt === null || claimedAt <= clock.now() - reclaimMs;
  }

  function isAbandoned({ state: at, leasedUntil }: WorkRecord): boolean {
    return (at === 'starting' || at === 'active') && (leasedUntil ?? 0) <= clock.now();
  }

  function isOver({ sessionId }: WorkRecord): boolean {
    return state.sessions.get(sessionId)?.status === 'terminated';
  }

  function hasWorker({ id, sessionId }: WorkRecord): boolean {
    return state.works.values().some((other) => {
      const isHeld = other.state === 'starting' || other.state === 'active' || other.state === 'stopping';
      return other.id !== id && other.sessionId === sessionId && isHeld && (other.leasedUntil ?? 0) > clock.now();
    });
  }
}
