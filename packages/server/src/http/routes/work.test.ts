import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import type { ManualClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { environmentLimits } from '../../environments/limits.ts';
import { httpLimits } from '../limits.ts';
import { createEnvironments } from '../../environments/environments.ts';
import { toNewWork } from '../../environments/work-data.ts';
import { createWorkQueue } from '../../environments/work-queue.ts';
import type { NewSession, NewWork } from '../../store/records.ts';
import type { Schedule } from '../../base/schedule.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { Store } from '../../store/store.ts';
import { type Change, commitOne } from '../../store/write.ts';
import { anyOf } from '../../keys/credential.ts';
import { createSessionTokens } from '../../keys/session-tokens.ts';
import { knownSecrets, type TestHttpServer, withHttpServer } from '../server/http-server.suite.ts';
import { createEnvironmentRoutes } from './environments.ts';
import { outcomeOf } from './records.suite.ts';
import { createWorkRoutes } from './work.ts';

interface WorkServer extends TestHttpServer {
  readonly environment: string;
  readonly work: Anthropic['beta']['environments']['work'];
  readonly tick: (ms: number) => void;
  /** Queues a session that waits for a worker. */
  readonly queue: (sessionId: string, change?: Partial<NewWork>) => Promise<void>;
  readonly clientOf: (secret: string) => Anthropic;
  /** The delays of all waiting polls. */
  readonly waits: readonly number[];
}

describe('polling', () => {
  it('[W4] a poll of an empty queue returns null, and otherwise the oldest item with its secret', () =>
    withWork(async ({ environment, work, queue, server, clock, tick }) => {
      expect(await work.poll(environment, {})).toBeNull();
      await queue('sesn_2', { createdAt: clock.now() + 1 });
      await queue('sesn_1');
      const item = (await work.poll(environment, { 'Anthropic-Worker-ID': 'w' }))!;
      const { secret, ...shown } = item;
      expect(shown).toEqual({
        type: 'work',
        id: 'work_1',
        environment_id: environment,
        data: { type: 'session', id: 'sesn_1' },
        state: 'queued',
        metadata: {},
        created_at: new Date(clock.now()).toISOString(),
        acknowledged_at: null,
        started_at: null,
        latest_heartbeat_at: null,
        stop_requested_at: null,
        stopped_at: null,
      });
      const { sessions_token: token, ...rest } = JSON.parse(Buffer.from(secret!, 'base64url').toString());
      expect(rest).toEqual({});
      expect(secret).toMatch(/^[\w-]+$/);
      const holder = new Anthropic({ baseURL: server.url, authToken: token, maxRetries: 0 });
      const read = () => holder.beta.environments.work.retrieve('work_1', at(environment));
      expect(await read()).toMatchObject({ secret: null });
      tick(httpLimits.sessionTokenMs - 1);
      expect(await outcomeOf(read())).toBe('ok');
      tick(1);
      expect(await outcomeOf(read())).toBe('401 authentication_error');
    }));

  it('[W4] a poll waits for work for block_ms, and does not wait without it', () =>
    withWork(async ({ environment, work, queue, tick, waits }) => {
      const early = work.poll(environment, { block_ms: httpLimits.workBlockMsMax });
      await until(() => waits.includes(httpLimits.workBlockMsMax));
      await queue('sesn_1');
      expect((await early)?.data.id).toBe('sesn_1');
      let isOver = false;
      const late = work.poll(environment, { block_ms: 500 }).then((item) => ((isOver = true), item));
      await until(() => waits.includes(500));
      tick(499);
      // Another request is answered in the meantime.
      await work.stats(environment);
      expect(isOver).toBe(false);
      tick(1);
      expect(await late).toBeNull();
      for (const block_ms of [0, httpLimits.workBlockMsMax + 1]) {
        expect(await outcomeOf(work.poll(environment, { block_ms }))).toBe('400 invalid_request_error');
      }
    }));

  it('[W4] a worker that disconnects while it waits takes no item', () =>
    withWork(async ({ environment, work, queue, waits, requests }) => {
      const gone = new AbortController();
      const poll = work.poll(environment, { block_ms: 999 }, { signal: gone.signal });
      await until(() => waits.length === 1);
      gone.abort();
      await expect(poll).rejects.toThrow();
      await until(() => requests.some(({ route }) => route === 'work.poll'));
      await queue('sesn_1');
      expect((await work.poll(environment, {}))?.id).toBe('work_1');
    }));

  it('[W5] an item that is not acknowledged is queued again after reclaim_older_than_ms, by default 5 s', () =>
    withWork(async ({ environment, work, queue, tick }) => {
      await queue('sesn_1');
      await work.poll(environment, {});
      tick(httpLimits.workReclaimMs - 1);
      expect(await work.poll(environment, {})).toBeNull();
      expect((await work.poll(environment, { reclaim_older_than_ms: 100 }))?.id).toBe('work_1');
      tick(httpLimits.workReclaimMs);
      expect((await work.poll(environment, {}))?.id).toBe('work_1');
      const late = work.poll(environment, { reclaim_older_than_ms: httpLimits.workReclaimMsMax + 1 });
      expect(await outcomeOf(late)).toBe('400 invalid_request_error');
    }));

  it('[W5] only one worker can acknowledge an item', () =>
    withWork(async ({ environment, work, queue, clock }) => {
      await queue('sesn_1');
      await work.poll(environment, {});
      await work.poll(environment, { reclaim_older_than_ms: 0 });
      expect(await work.ack('work_1', at(environment))).toMatchObject({
        state: 'starting',
        acknowledged_at: new Date(clock.now()).toISOString(),
      });
      expect(await outcomeOf(work.ack('work_1', at(environment)))).toBe('409 conflict_error');
      expect(await outcomeOf(work.ack('work_9', at(environment)))).toBe('404 not_found_error');
    }));

  it('[W6] a cloud environment has no queue, and a deleted environment is a 404', () =>
    withWork(async ({ work, clientOf }) => {
      const cloud = await clientOf('ours').beta.environments.create({ name: 'cloud' });
      expect(await outcomeOf(work.poll(cloud.id, {}))).toBe('400 invalid_request_error');
      expect(await outcomeOf(work.stats(cloud.id))).toBe('400 invalid_request_error');
      expect(await outcomeOf(work.poll('env_none', {}))).toBe('404 not_found_error');
    }));

  it('[W6] the stats count waiting items, items handed out and workers that polled in the last 30 s', () =>
    withWork(async ({ environment, work, queue, clock, tick }) => {
      const first = clock.now();
      await queue('sesn_1');
      tick(1_000);
      await queue('sesn_2');
      for (const worker of ['a', 'a', 'b'])
        await work.poll('env_none', { 'Anthropic-Worker-ID': worker }).catch(() => 0);
      expect(await work.stats(environment)).toEqual({
        type: 'work_queue_stats',
        depth: 2,
        pending: 0,
        oldest_queued_at: new Date(first).toISOString(),
        workers_polling: 0,
      });
      await work.poll(environment, { 'Anthropic-Worker-ID': 'a' });
      tick(environmentLimits.workerSeenMs - 1);
      await work.poll(environment, { 'Anthropic-Worker-ID': 'b', reclaim_older_than_ms: httpLimits.workReclaimMsMax });
      expect(await work.stats(environment)).toMatchObject({ depth: 0, pending: 2, workers_polling: 2 });
      tick(1);
      expect(await work.stats(environment)).toMatchObject({ workers_polling: 1 });
      const tooLong = 'x'.repeat(httpLimits.workerIdCharsMax);
      await work.poll(environment, { 'Anthropic-Worker-ID': `${tooLong}y` });
      await work.poll(environment, { 'Anthropic-Worker-ID': `${tooLong}z` });
      expect(await work.stats(environment)).toMatchObject({ workers_polling: 2 });
    }));
});

describe('holding', () => {
  it('[W7] a heartbeat must name the previous one, otherwise it gets a 412 with the current state', () =>
    withWork(async ({ environment, work, queue, clock, tick }) => {
      await queue('sesn_1');
      const beat = (expected_last_heartbeat?: string, desired_ttl_seconds?: number) =>
        work.heartbeat('work_1', {
          ...at(environment),
          ...(expected_last_heartbeat === undefined ? {} : { expected_last_heartbeat }),
          ...(desired_ttl_seconds === undefined ? {} : { desired_ttl_seconds }),
        });
      expect(await outcomeOf(beat('NO_HEARTBEAT'))).toBe('412 invalid_request_error');
      await work.poll(environment, {});
      await work.ack('work_1', at(environment));
      const first = await beat('NO_HEARTBEAT');
      const started = new Date(clock.now()).toISOString();
      expect(first).toEqual({
        type: 'work_heartbeat',
        last_heartbeat: started,
        lease_extended: true,
        state: 'active',
        ttl_seconds: environmentLimits.workLeaseMs / 1_000,
      });
      const refused: unknown = await beat('NO_HEARTBEAT').catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(APIError);
      expect((refused as APIError).status).toBe(412);
      expect((refused as APIError).error).toMatchObject({
        error: {
          type: 'invalid_request_error',
          details: {
            error_code: 'heartbeat_precondition_failed',
            current_state: {
              last_heartbeat: started,
              lease_extended: false,
              state: 'active',
              ttl_seconds: environmentLimits.workLeaseMs / 1_000,
            },
          },
        },
      });
      // A different heartbeat although in the same millisecond.
      const second = await beat(first.last_heartbeat, 10);
      expect(second).toMatchObject({ ttl_seconds: 10, lease_extended: true });
      expect(second.last_heartbeat).not.toBe(first.last_heartbeat);
      tick(5_000);
      expect(await beat()).toMatchObject({ ttl_seconds: 10, last_heartbeat: new Date(clock.now()).toISOString() });
      expect(await work.retrieve('work_1', at(environment))).toMatchObject({ state: 'active', started_at: started });
      for (const ttl of [0, httpLimits.workLeaseMsMax / 1_000 + 1]) {
        expect(await outcomeOf(beat(undefined, ttl))).toBe('400 invalid_request_error');
      }
    }));

  it('[W7] the item of a silent worker goes to another one, and the first worker gets a 412', () =>
    withWork(async ({ environment, work, queue, tick }) => {
      await queue('sesn_1');
      await work.poll(environment, {});
      await work.ack('work_1', at(environment));
      const { last_heartbeat: last } = await work.heartbeat('work_1', at(environment));
      tick(environmentLimits.workLeaseMs - 1);
      expect(await work.poll(environment, {})).toBeNull();
      tick(1);
      expect(await work.stats(environment)).toMatchObject({ depth: 1 });
      expect(await work.poll(environment, {})).toMatchObject({
        id: 'work_1',
        state: 'queued',
        latest_heartbeat_at: null,
      });
      const beat = { ...at(environment), expected_last_heartbeat: last };
      expect(await outcomeOf(work.heartbeat('work_1', beat))).toBe('412 invalid_request_error');
      await work.ack('work_1', at(environment));
      expect(await outcomeOf(work.heartbeat('work_1', beat))).toBe('412 invalid_request_error');
    }));

  it('[W7] a heartbeat that the client repeats is applied once, and two different ones are both applied', () =>
    withWork(async ({ environment, queue, work, send }) => {
      await queue('sesn_1');
      await work.poll(environment, {});
      await work.ack('work_1', at(environment));
      const beat = async (expected: string, retry = '0') => {
        const path = `/v1/environments/${environment}/work/work_1/heartbeat?expected_last_heartbeat=${expected}`;
        const headers = { 'x-api-key': 'ours', 'x-stainless-retry-count': retry };
        return (await send({ method: 'POST', path, headers })).json;
      };
      const first = await beat('NO_HEARTBEAT');
      expect(await beat('NO_HEARTBEAT', '1')).toEqual(first);
      const second = await beat(first.last_heartbeat, '1');
      expect(second.lease_extended).toBe(true);
      expect(second.last_heartbeat).not.toBe(first.last_heartbeat);
    }));

  it('[W8] a worker receives the request to stop with its next heartbeat, and a worker that stops is stopped once', () =>
    withWork(async ({ environment, work, queue, tick, clientOf }) => {
      await queue('sesn_1');
      await work.poll(environment, {});
      await work.ack('work_1', at(environment));
      const first = await work.heartbeat('work_1', at(environment));
      expect(await work.stop('work_1', at(environment))).toMatchObject({ state: 'stopping', stopped_at: null });
      expect(await work.stop('work_1', at(environment))).toMatchObject({ state: 'stopping' });
      const stale = { ...at(environment), expected_last_heartbeat: 'stale' };
      expect(await work.heartbeat('work_1', stale)).toMatchObject({
        state: 'stopping',
        lease_extended: false,
        last_heartbeat: first.last_heartbeat,
      });
      const worker = clientOf('worker').beta.environments.work;
      expect(await worker.stop('work_1', at(environment))).toMatchObject({ state: 'stopped' });
      expect(await outcomeOf(worker.stop('work_1', at(environment)))).toBe('409 conflict_error');
      expect(await work.heartbeat('work_1', stale)).toMatchObject({ state: 'stopped', lease_extended: false });
      // No worker has this item.
      await queue('sesn_2');
      expect(await work.stop('work_2', at(environment))).toMatchObject({ state: 'stopped' });
      await queue('sesn_3');
      await work.poll(environment, {});
      await work.ack('work_3', at(environment));
      await work.heartbeat('work_3', at(environment));
      await work.stop('work_3', at(environment));
      tick(environmentLimits.workLeaseMs);
      expect(await work.retrieve('work_3', at(environment))).toMatchObject({ state: 'stopped' });
      expect(await outcomeOf(work.stop('work_3', { ...at(environment), force: true }))).toBe('409 conflict_error');
    }));

  it('[W9] a session that its worker leaves unfinished is queued again, a limited number of times', () =>
    withWork(async ({ environment, work, queue, store }) => {
      await queue('sesn_1');
      const enqueue = { id: 'sevt_1', threadId: null, time: 0, data: {} };
      const input: Change = { type: 'enqueue_input', input: enqueue };
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [input] });
      const ids: string[] = [];
      for (let count = 0; count <= environmentLimits.workRetriesMax; count++) {
        const item = (await work.poll(environment, {}))!;
        ids.push(item.id);
        await work.ack(item.id, at(environment));
        await work.stop(item.id, { ...at(environment), force: true });
      }
      expect(new Set(ids).size).toBe(environmentLimits.workRetriesMax + 1);
      expect(await work.poll(environment, {})).toBeNull();
      // A worker that stops an item without acknowledging it refuses the item.
      await queue('sesn_2');
      await work.stop('work_2', { ...at(environment), force: true });
      expect(await work.stats(environment)).toMatchObject({ depth: 0, pending: 0 });
    }));

  it('[W6] items are listed in pages, and their metadata is merged by key', () =>
    withWork(async ({ environment, work, queue, tick, clientOf }) => {
      for (const id of ['1', '2', '3']) {
        await queue(`sesn_${id}`);
        tick(1);
      }
      const ids: string[] = [];
      for await (const item of work.list(environment, { limit: 2 })) ids.push(item.id);
      expect(ids).toEqual(['work_3', 'work_2', 'work_1']);
      const put = (metadata: Record<string, string | null>) =>
        work.update('work_1', { ...at(environment), metadata }).then((item) => item.metadata);
      await put({ host: 'a', zone: 'x' });
      expect(await put({ host: 'b', zone: null })).toEqual({ host: 'b' });
      const many = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));
      expect(await outcomeOf(put(many(baseLimits.metadataPairsMax)))).toBe('400 invalid_request_error');
      expect(Object.keys(await put({ host: null, ...many(baseLimits.metadataPairsMax) }))).toHaveLength(
        baseLimits.metadataPairsMax,
      );
      const other = await clientOf('ours').beta.environments.create({ name: 'b', config: { type: 'self_hosted' } });
      expect(await outcomeOf(work.retrieve('work_1', at(other.id)))).toBe('404 not_found_error');
    }));
});

function at(environment: string) {
  return { environment_id: environment };
}

/** A server with a self-hosted environment, for which tests write sessions directly to the store. */
async function withWork(run: (test: WorkServer) => Promise<void>): Promise<void> {
  let tick: (ms: number) => void = () => {};
  const environments: string[] = [];
  const waits: number[] = [];
  const toRoutes = (store: Store, clock: ManualClock) => {
    const manual = createManualSchedule(clock);
    tick = manual.advance;
    const schedule: Schedule = (run, delayMs) => {
      // A poll that does not wait also has a timer, which is due at once.
      if (delayMs > 0) waits.push(delayMs);
      return manual.schedule(run, delayMs);
    };
    const ids = createIds({ now: clock.now, random: () => 0.25 });
    const tokens = createSessionTokens({ signingKey: Buffer.alloc(32, 1), clock, isIssuerCurrent: async () => true });
    const queue = createWorkQueue({ store, clock, ids, schedule });
    const known = {
      find: async (secret: string) => {
        const api = { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' } as const;
        const worker = { ...api, kind: 'environment', environmentId: environments[0]! } as const;
        return knownSecrets({ ours: api, worker }).find(secret);
      },
    };
    const routes = [
      ...createEnvironmentRoutes(createEnvironments({ store, clock, ids })),
      ...createWorkRoutes({ queue, tokens }),
    ];
    return { access: anyOf(known, tokens), routes };
  };
  await withHttpServer(toRoutes, async (test) => {
    const clientOf = (secret: string) => new Anthropic({ baseURL: test.server.url, apiKey: secret, maxRetries: 0 });
    const created = await clientOf('ours').beta.environments.create({ name: 'a', config: { type: 'self_hosted' } });
    environments.push(created.id);
    const queue = async (sessionId: string, change: Partial<NewWork> = {}) => {
      const time = test.clock.now();
      const agent = { agentId: 'agent_1', agentVersion: 1, environmentId: created.id };
      const base = { workspaceId: 'wrkspc_1', id: sessionId, ...agent, createdAt: time, data: {} };
      const session: NewSession = { ...base, status: 'idle' };
      const id = sessionId.replace('sesn', 'work');
      const work = { ...toNewWork(id, time, { ttlMs: environmentLimits.workLeaseMs }), ...change };
      const changes: Change[] = [{ type: 'enqueue_work', work }];
      await commitOne(test.store, { type: 'create', session, frames: [], changes });
    };
    const { work } = clientOf('ours').beta.environments;
    await run({ ...test, environment: created.id, work, tick: (ms) => tick(ms), queue, clientOf, waits });
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
