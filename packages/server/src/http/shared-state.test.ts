import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { environmentLimits } from '../environments/limits.ts';
import { httpLimits } from './limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createSharedWorkers } from '../environments/shared-workers.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemSchedule } from '../base/schedule.ts';
import { storeError } from '../store/store-errors.ts';
import { createReplays, type RepeatableRequest, type ReplayMemory } from './idempotency/replays.ts';
import { CLAIM, createSharedClaims } from './idempotency/shared-claims.ts';
import { createLoginCodes } from './dashboard/login-codes.ts';
import { createSharedCatchUp } from './streams/shared-catch-up.ts';

function open() {
  const clock = createManualClock(1_000);
  const store = createMemoryStore({ clock });
  return { clock, store };
}

it('[P54] a stream opened on another node begins at the position of the send, once and within the time limit', async () => {
  const { clock, store } = open();
  const [one, two] = [createSharedCatchUp(store), createSharedCatchUp(store)];
  await one.sent('s', 7);
  await one.sent('s', 9);
  expect(await two.take('s')).toBe(7);
  expect(await one.take('s')).toBeUndefined();
  await one.sent('s', 20);
  clock.advance(httpLimits.catchUpMs - 1);
  await two.seen('s', 20);
  expect(await one.take('s')).toBe(20);
  await one.sent('s', 30);
  await two.seen('s', 31);
  expect(await two.take('s')).toBeUndefined();
  await one.sent('s', 40);
  clock.advance(httpLimits.catchUpMs);
  expect(await two.take('s')).toBeUndefined();
  await one.sent('s', 50);
  const taken = await Promise.all([one.take('s'), two.take('s'), one.take('s'), two.take('s')]);
  expect(taken.filter((each) => each === 50)).toHaveLength(1);
});

it('[P55] a login link of one node works on any other, once, and expires', async () => {
  const { clock, store } = open();
  const [one, two] = [createLoginCodes(store), createLoginCodes(store)];
  const visitor = { keyId: 'key_1', workspaceId: 'w' };
  const code = await one.make(visitor);
  expect(JSON.stringify(await store.documents.list({ kind: 'login_code', limit: 10 }))).not.toContain(code);
  const taken = await Promise.all([one.take(code), two.take(code), two.take(code)]);
  expect(taken.filter((each) => each !== undefined)).toEqual([visitor]);
  expect(await two.take(code)).toBeUndefined();
  const late = await one.make(visitor);
  clock.advance(httpLimits.loginCodeMs);
  expect(await two.take(late)).toBeUndefined();
});

it('[P56] workers that polled any node recently are counted', async () => {
  const { clock, store } = open();
  const [one, two] = [createSharedWorkers({ store, clock }), createSharedWorkers({ store, clock })];
  await one.seen('env_1', 'a');
  await two.seen('env_1', 'b');
  await two.seen('env_1', 'a');
  await two.seen('env_2', 'c');
  expect([await one.count('env_1'), await two.count('env_1'), await one.count('env_2')]).toEqual([2, 2, 1]);
  clock.advance(environmentLimits.workerSeenMs - 1);
  await one.seen('env_1', 'a');
  clock.advance(1);
  expect(await two.count('env_1')).toBe(1);
});

it('[P61] a request with an Idempotency-Key that is repeated on another node while the first is running is executed once', async () => {
  const { store } = open();
  const openServer = () =>
    createReplays({ keys: store.keys, onError: () => {}, claims: createSharedClaims(store, systemSchedule) });
  const request = REQUEST;
  let count = 0;
  const execute = async () => {
    count += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { status: 200, body: { count } };
  };
  const servers = [openServer(), openServer(), openServer()];
  const answers = await Promise.all(servers.map((server) => server.run(request, execute)));
  expect([count, answers.map(({ body }) => body)]).toEqual([1, [{ count: 1 }, { count: 1 }, { count: 1 }]]);
  // An error is not stored, and its repetition does not wait.
  const failing = { ...request, idempotencyKey: 'fails' };
  const fail = () => Promise.reject(new Error('no'));
  await expect(servers[0]!.run(failing, fail)).rejects.toThrow('no');
  expect((await servers[1]!.run(failing, execute)).body).toEqual({ count: 2 });
});

it('[P61] the wait for a node that is still executing is limited', async () => {
  const { store } = open();
  let waitedMs = 0;
  const claims = createSharedClaims(store, (run, delayMs) => {
    waitedMs += delayMs;
    setImmediate(run);
    return () => {};
  });
  // The clock does not advance, so the claim stays valid.
  await store.documents.put({ kind: CLAIM, id: 'x', data: {} });
  await expect(claims.run('x', NOTHING, DONE)).rejects.toMatchObject({ code: 'still_under_way' });
  expect(waitedMs).toBe(httpLimits.claimMs);
});

it('[P61] a claim is valid while its node renews it, and expires soon after the node has crashed', async () => {
  const { clock, store } = open();
  const { schedule, advance } = createManualSchedule(clock);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  let finish: (answer: string) => void = () => {};
  const working = createSharedClaims(store, schedule).run(
    'x',
    NOTHING,
    () => new Promise<string>((resolve) => (finish = resolve)),
  );
  await settle();
  const updatedAt = async () => (await store.documents.get(CLAIM, 'x'))?.updatedAt;
  for (let beat = 1; beat <= 6; beat++) {
    advance(httpLimits.claimLeaseMs / 3);
    await settle();
    expect(await updatedAt()).toBe(1_000 + (beat * httpLimits.claimLeaseMs) / 3);
  }
  finish('done');
  expect([await working, await updatedAt()]).toEqual(['done', undefined]);

  // No node renews this claim.
  await store.documents.put({ kind: CLAIM, id: 'dead', data: {} });
  const waiting = createSharedClaims(store, schedule).run('dead', NOTHING, DONE);
  let result: string | undefined;
  void waiting.then((answer) => (result = answer));
  for (let waitedMs = 0; waitedMs < httpLimits.claimLeaseMs; waitedMs += 100) {
    await settle();
    expect(result).toBeUndefined();
    advance(100);
  }
  await settle();
  expect(result).toBeUndefined();
  advance(100);
  expect(await waiting).toBe('done');
});

it('[P61] a suspended node that finds its claim taken does not execute, and returns the answer of the first', async () => {
  const { clock, store } = open();
  const { schedule, advance } = createManualSchedule(clock);
  let finish: (answer: string) => void = () => {};
  const frozen = createSharedClaims(store, () => () => {}).run(
    'x',
    NOTHING,
    () => new Promise<string>((resolve) => (finish = resolve)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  advance(httpLimits.claimLeaseMs + 1);
  let finishOther: (answer: string) => void = () => {};
  const other = createSharedClaims(store, schedule).run(
    'x',
    NOTHING,
    () => new Promise<string>((resolve) => (finishOther = resolve)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  finishOther('other');
  finish('frozen');
  expect(await Promise.all([frozen, other])).toEqual(['frozen', 'other']);

  const server = createReplays({ keys: store.keys, clock, onError: () => {} });
  const put = { workspaceId: 'w', expiresAt: clock.now() + 1_000 };
  const answer = await server.run(REQUEST, async (memory) => {
    const { key, result } = memory.toKey({ by: 'second' });
    // The first node finishes now, and the write of the second is refused.
    await store.keys.putIfAbsent({ ...put, key, result: { ...result, body: { by: 'first' } } });
    throw storeError('key_taken', 'something was done under the key already');
  });
  expect([answer.body, answer.headers]).toEqual([{ by: 'first' }, { 'idempotency-replayed': 'true' }]);
});

it('[P77] a node about to write a request after another has executed its retry writes nothing, and two intended equal requests are both executed', async () => {
  const { clock, store } = open();
  const servers = [1, 2].map(() =>
    createReplays({ keys: store.keys, clock, onError: () => {}, claims: createSharedClaims(store, systemSchedule) }),
  );
  const request = { ...REQUEST, idempotencyKey: undefined };
  const done: string[] = [];
  const write = (by: string) => async (memory: ReplayMemory) => {
    const { replaces = false, ...key } = memory.toKey({ by });
    const { isNew } = await store.keys.putIfAbsent({ workspaceId: 'w', replaces, ...key });
    if (!isNew) throw storeError('key_taken', 'something was done under the key already');
    done.push(by);
    return { status: 200, body: { by } };
  };
  let goOn = () => {};
  const frozen = servers[0]!.run(request, async (memory) => {
    await new Promise<void>((resolve) => (goOn = resolve));
    return write('frozen')(memory);
  });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  expect((await servers[1]!.run({ ...request, retryCount: 1 }, write('again'))).body).toEqual({ by: 'again' });
  goOn();
  expect((await frozen).body).toEqual({ by: 'again' });
  expect(done).toEqual(['again']);

  // An intended second request: no retry has arrived since.
  clock.advance(1);
  await servers[0]!.run(request, write('second'));
  await Promise.all(servers.map((server, at) => server.run(request, write(`third ${at}`))));
  expect(done).toEqual(['again', 'second', 'third 0', 'third 1']);
  // A retry repeats the newest request, also if that ended in the same millisecond.
  const late = await servers[0]!.run({ ...request, retryCount: 1 }, write('never'));
  expect(late.body).toEqual({ by: 'third 1' });
});

const NOTHING = async () => undefined;
const DONE = async () => 'done';
const REQUEST: RepeatableRequest = {
  credential: { kind: 'api', id: 'key_1', workspaceId: 'w' },
  secret: 'of key_1',
  method: 'POST',
  path: '/v1/agents',
  body: Buffer.from('{}'),
  idempotencyKey: 'once',
  retryCount: 0,
};
