import { readPages } from '../store/read-pages.ts';
import type { Work, WorkHeartbeat, WorkLeaseState, WorkQueueStats } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { baseLimits } from '../base/limits.ts';
import { environmentLimits } from './limits.ts';
import { storeLimits } from '../store/limits.ts';
import type { Page, PageRequest } from '../store/page.ts';
import type { WorkRecord } from '../store/records.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import type { Store, WorkChange } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import { commitOne } from '../store/write.ts';
import { environmentError } from './environment-errors.ts';
import { createPollers, type Pollers, type SeenWorkers } from './pollers.ts';
import { stateOf, toMoment, toNewWork, toWork, type WorkData, workDataOf } from './work-data.ts';

/**
 * Where workers of self-hosted environments find the sessions whose tools they run. What is queued is written together
 * with the sessions (see `enqueue_work`); here it is handed out, held and given back.
 */
export interface WorkQueue {
  /** The next item, as soon as there is one within `blockMs`. A caller that disconnects in the meantime gets none. */
  poll(request: PollRequest): Promise<Work | null>;
  /** A worker takes up what it was given. Of two only the first can. */
  acknowledge(at: WorkAt): Promise<Work>;
  /** Extends the lease of a worker, which names its last heartbeat: with another one the item belongs to another worker by now. */
  heartbeat(at: WorkAt, request: HeartbeatRequest): Promise<HeartbeatOutcome>;
  /** Without force, a worker with a valid lease is asked to finish in the answer to its next heartbeat. */
  stop(at: WorkAt, request: { readonly isForced: boolean }): Promise<Work>;
  get(at: WorkAt): Promise<Work>;
  /** Null removes a key. */
  update(at: WorkAt, metadata: Readonly<Record<string, string | null>>): Promise<Work>;
  list(request: PageRequest & QueueAt): Promise<Page<Work>>;
  stats(at: QueueAt): Promise<WorkQueueStats>;
  close(): void;
}

/** The queue of one environment. */
export interface QueueAt {
  readonly workspaceId: string;
  readonly environmentId: string;
}

/** The position of an item of work. */
export interface WorkAt extends QueueAt {
  readonly workId: string;
  /** The only session that the caller may access. */
  readonly sessionId?: string | undefined;
}

/** How long a poll waits, and after which time it takes over items that were not acknowledged. */
export interface PollRequest extends QueueAt {
  readonly workerId: string | undefined;
  readonly blockMs: number;
  readonly reclaimMs: number;
  readonly signal: AbortSignal;
}

/** The requested lease, and the heartbeat that the worker expects to be the last one. */
export interface HeartbeatRequest {
  readonly ttlMs: number | undefined;
  /** Undefined: whatever it is. Null: there was none. */
  readonly expected: string | null | undefined;
}

/** Whether the worker still holds the item; if not, its current state. */
export type HeartbeatOutcome =
  | { readonly isHeld: true; readonly heartbeat: WorkHeartbeat }
  | { readonly isHeld: false; readonly current: WorkLeaseState };

/** Where work is stored, and whose polls are counted. */
export interface WorkQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly schedule?: Schedule;
  /** Workers that ask any node. By default those that ask this one. */
  readonly workers?: SeenWorkers | undefined;
}

/** Creates the queues of all environments of a store. */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { store, clock, ids, schedule = systemSchedule } = options;
  const pollers = createPollers({ store, clock, schedule });
  const workers: Pick<Pollers, 'seen' | 'count'> | SeenWorkers = options.workers ?? pollers;

  return {
    poll: async ({ workspaceId, environmentId, workerId, blockMs, reclaimMs, signal }) => {
      await checkSelfHosted(workspaceId, environmentId);
      if (workerId !== undefined) await workers.seen(environmentId, workerId);
      const claim = () => store.works.claim({ workspaceId, environmentId, reclaimMs });
      const record = await pollers.until(claim, blockMs, signal);
      return record === undefined ? null : show(record);
    },

    acknowledge: async (at) => {
      const record = await change(at, (before) => {
        if (before.state !== 'queued') {
          throw environmentError('work_not_queued', `${before.id} is ${stateOf(before, clock.now())}`);
        }
        // The worker before may have left heartbeats, which this worker does not know.
        const fresh = { acknowledged_at: clock.now(), started_at: null, latest_heartbeat_at: null };
        const data = { ...workDataOf(before), ...fresh, ttl_ms: environmentLimits.workLeaseMs };
        return { state: 'starting', leaseMs: environmentLimits.workLeaseMs, data };
      });
      return show(record);
    },

    heartbeat: async (at, { ttlMs, expected }) => {
      let isHeld = true;
      const record = await change(at, (before) => {
        const data = workDataOf(before);
        isHeld = isLeased(before) && isExpected(data, expected);
        if (!isHeld) return undefined;
        // Each heartbeat has a different time, because the next one is compared with it.
        const now = Math.max(clock.now(), (data.latest_heartbeat_at ?? 0) + 1);
        const leaseMs = ttlMs ?? data.ttl_ms;
        const beat = { latest_heartbeat_at: now, started_at: data.started_at ?? now, ttl_ms: leaseMs };
        return { state: 'active', leaseMs, data: { ...data, ...beat } };
      });
      const { latest_heartbeat_at: latest, ttl_ms: leaseMs } = workDataOf(record);
      const state = stateOf(record, clock.now());
      const lease = { state, ttl_seconds: leaseMs / 1_000 };
      const isEnding = state === 'stopping' || state === 'stopped';
      if (!isHeld && !isEnding) {
        const last = state === 'queued' ? null : toMoment(latest);
        return { isHeld: false, current: { last_heartbeat: last, lease_extended: false, ...lease } };
      }
      const last = toMoment(latest ?? record.createdAt);
      return {
        isHeld: true,
        heartbeat: { type: 'work_heartbeat', last_heartbeat: last, lease_extended: !isEnding, ...lease },
      };
    },

    stop: async (at, { isForced }) => {
      let wasHeld = false;
      const record = await change(at, (before) => {
        const now = clock.now();
        if (stateOf(before, now) === 'stopped') throw environmentError('work_stopped', `${before.id} has stopped`);
        wasHeld = before.state !== 'queued';
        const data = { ...workDataOf(before), stop_requested_at: workDataOf(before).stop_requested_at ?? now };
        // Only a worker that sends heartbeats receives the request to stop.
        const isAsked = !isForced && before.state === 'active' && (before.leasedUntil ?? 0) > now;
        if (isAsked || (!isForced && before.state === 'stopping')) return { state: 'stopping', data };
        return { state: 'stopped', leaseMs: null, data: { ...data, stopped_at: now } };
      });
      if (record.state === 'stopped' && wasHeld) await queueAgain(record);
      return show(record);
    },

    get: async (at) => show(await read(at)),

    update: async (at, patch) => {
      const record = await change(at, (before) => {
        const data = workDataOf(before);
        const merged = Object.entries({ ...data.metadata, ...patch }).filter(([, value]) => value !== null);
        if (merged.length > baseLimits.metadataPairsMax) {
          throw environmentError('invalid_metadata', `metadata has ${merged.length} keys`);
        }
        return { data: { ...data, metadata: Object.fromEntries(merged) as WorkData['metadata'] } };
      });
      return show(record);
    },

    list: async (request) => {
      await checkSelfHosted(request.workspaceId, request.environmentId);
      const { items, ...page } = await store.works.list(request);
      return { ...page, items: items.map(show) };
    },

    stats: async ({ workspaceId, environmentId }) => {
      await checkSelfHosted(workspaceId, environmentId);
      const { waiting, claimed, oldestAt } = await store.works.count({ workspaceId, environmentId });
      return {
        type: 'work_queue_stats',
        depth: waiting,
        pending: claimed,
        oldest_queued_at: toMoment(oldestAt),
        workers_polling: await workers.count(environmentId),
      };
    },

    close: () => pollers.close(),
  };

  function show(record: WorkRecord): Work {
    return toWork(record, clock.now());
  }

  async function checkSelfHosted(workspaceId: string, environmentId: string): Promise<void> {
    const environment = await store.environments.get(workspaceId, environmentId);
    if (environment === undefined) throw environmentError('environment_not_found', `${environmentId} does not exist`);
    const { config } = environment.data as { config?: { type?: string } };
    if (config?.type === 'self_hosted') return;
    throw environmentError('environment_not_self_hosted', `${environmentId} runs its tools itself`);
  }

  async function read({ workspaceId, environmentId, workId, sessionId }: WorkAt): Promise<WorkRecord> {
    const record = await store.works.get(workspaceId, workId);
    const isMine = record?.environmentId === environmentId && (sessionId ?? record.sessionId) === record.sessionId;
    if (record === undefined || !isMine) throw environmentError('work_not_found', `${workId} does not exist`);
    return record;
  }

  /** Undefined: nothing changes. Applied again after a conflicting change. */
  async function change(
    at: WorkAt,
    toChange: (before: WorkRecord) => (Pick<WorkChange, 'state' | 'leaseMs'> & { data: WorkData }) | undefined,
  ): Promise<WorkRecord> {
    for (let attempt = 1; ; attempt++) {
      const before = await read(at);
      const patch = toChange(before);
      if (patch === undefined) return before;
      const target = { workspaceId: at.workspaceId, id: before.id, ifRevision: before.revision };
      const changed = await store.works.update({ ...target, ...patch }).catch((error: unknown) => {
        if (!isStoreError(error, 'version_conflict') || attempt >= baseLimits.updateAttemptsMax) throw error;
      });
      if (changed !== undefined) return changed;
    }
  }

  /**
   * A worker has let go of a session that still needs one: it is shutting down, or something was sent just when it had
   * decided to leave. A worker that cannot do it at all would get it forever, so that ends after a few times; what is
   * sent next queues the session in any case.
   */
  async function queueAgain({ workspaceId, sessionId, data }: WorkRecord): Promise<void> {
    const { retries } = data as unknown as WorkData;
    if (retries >= environmentLimits.workRetriesMax || !(await needsWorker(workspaceId, sessionId))) return;
    const work = toNewWork(ids.next('work'), clock.now(), {
      ttlMs: environmentLimits.workLeaseMs,
      retries: retries + 1,
    });
    const write = { type: 'submit' as const, sessionId, changes: [{ type: 'enqueue_work' as const, work }] };
    await commitOne(store, write).catch((error: unknown) => {
      if (!isStoreError(error, 'archived') && !isStoreError(error, 'not_found')) throw error;
    });
  }

  async function needsWorker(workspaceId: string, sessionId: string): Promise<boolean> {
    const session = await store.sessions.get(workspaceId, sessionId);
    if (session === undefined || session.status === 'terminated') return false;
    if (session.status !== 'idle' || (await store.inputs.peek(sessionId, 1)).length > 0) return true;
    const request = { workspaceId, sessionId, isPending: true, limit: storeLimits.pageItemsMax };
    for await (const approvals of readPages((from) => store.approvals.list({ ...request, ...from }))) {
      if (approvals.some(({ data }) => data['kind'] === 'builtin')) return true;
    }
    return false;
  }
}

/** Whether a worker holds the item. An expired lease does not matter until another worker takes the item. */
function isLeased({ state }: WorkRecord): boolean {
  return state === 'starting' || state === 'active';
}

function isExpected({ latest_heartbeat_at: latest }: WorkData, expected: string | null | undefined): boolean {
  return expected === undefined || expected === toMoment(latest);
}
