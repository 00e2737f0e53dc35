import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { createSharedWorkers } from '../environments/shared-workers.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemSchedule } from '../base/schedule.ts';
import { storeError } from '../store/store-errors.ts';
import { createReplays, type RepeatableRequest, type ReplayMemory } from './replays.ts';
import { CLAIM, createSharedClaims } from './shared-claims.ts';
import { createSharedLoginCodes } from './dashboard/shared-login-codes.ts';
import { createSharedCatchUp } from './shared-catch-up.ts';

function open() {
  const clock = createManualClock(1_000);
  const store = createMemoryStore({ clock });
  return { clock, store };
}

it('[P54] a stream that is opened at another node than the send begins where the send was, once and only soon', async () => {
  const { clock, store } = open();
  const [one, two] = [createSharedCatchUp(store), createSharedCatchUp(store)];
  await one.sent('s', 7);
  await one.sent('s', 9);
  expect(await two.take('s')).toBe(7);
  expect(await one.take('s')).toBeUndefined();
  await one.sent('s', 20);
  clock.advance(limits.catchUpMs - 1);
  await two.seen('s', 20);
  expect(await one.take('s')).toBe(20);
  await one.sent('s', 30);
  await two.seen('s', 31);
  expect(await two.take('s')).toBeUndefined();
  await one.sent('s', 40);
  clock.advance(limits.catchUpMs);
  expect(await two.take('s')).toBeUndefined();
  await one.sent('s', 50);
  const taken = await Promise.all([one.take('s'), two.take('s'), one.take('s'), two.take('s')]);
  expect(taken.filter((each) => each === 50)).toHaveLength(1);
});

it('[P55] a login link that one node makes lets in at any other, once, and ends with its time', async () => {
  const { clock, store } = open();
  const [one, two] = [createSharedLoginCodes(store), createSharedLoginCodes(store)];
  const visitor = { keyId: 'key_1', workspaceId: 'w' };
  const code = await one.make(visitor);
  expect(JSON.stringify(await store.documents.list({ kind: 'login_code', limit: 10 }))).not.toContain(code);
  const taken = await Promise.all([one.take(code), two.take(code), two.take(code)]);
  expect(taken.filter((each) => each !== undefined)).toEqual([visitor]);
  expect(await two.take(code)).toBeUndefined();
  const late = await one.make(visitor);
  clock.advance(limits.loginCodeMs);
  expect(await two.take(late)).toBeUndefined();
});

it('[P56] workers count that have asked any node lately', async () => {
  const { clock, store } = open();
  const [one, two] = [createSharedWorkers({ store, clock }), createSharedWorkers({ store, clock })];
  await one.seen('env_1', 'a');
  await two.seen('env_1', 'b');
  await two.seen('env_1', 'a');
  await two.seen('env_2', 'c');
  expect([await one.count('env_1'), await two.count('env_1'), await one.count('env_2')]).toEqual([2, 2, 1]);
  clock.advance(limits.workerSeenMs - 1);
  await one.seen('env_1', 'a');
  clock.advance(1);
  expect(await two.count('env_1')).toBe(1);
});

it('[P61] a request with an Idempotency-Key that is repeated at another node, while the first is at it, is carried out once', async () => {
  const { store } = open();
  const openDoor = () =>
    createReplays({ keys: store.keys, onMishap: () => {}, claims: createSharedClaims(store, systemSchedule) });
  const request = REQUEST;
  let count = 0;
  const execute = async () => {
    count += 1;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { status: 200, body: { count } };
  };
  const doors = [openDoor(), openDoor(), openDoor()];
  const answers = await Promise.all(doors.map((door) => door.run(request, execute)));
  expect([count, answers.map(({ body }) => body)]).toEqual([1, [{ count: 1 }, { count: 1 }, { count: 1 }]]);
  // What failed is not kept, and whoever repeats it is not held up by it.
  const failing = { ...request, idempotencyKey: 'fails' };
  const fail = () => Promise.reject(new Error('no'));
  await expect(doors[0]!.run(failing, fail)).rejects.toThrow('no');
  expect((await doors[1]!.run(failing, execute)).body).toEqual({ count: 2 });
});

it('[P61] so long is waited for a node that is still at it', async () => {
  const { store } = open();
  let waitedMs = 0;
  const claims = createSharedClaims(store, (run, delayMs) => {
    waitedMs += delayMs;
    setImmediate(run);
    return () => {};
  });
  // Its time does not pass, so it counts.
  await store.documents.put({ kind: CLAIM, id: 'x', data: {} });
  await expect(claims.run('x', NOTHING, DONE)).rejects.toMatchObject({ code: 'still_under_way' });
  expect(waitedMs).toBe(limits.claimMs);
});

it('[P61] a node counts as being at a request for as long as it says so, and a little longer when it dies', async () => {
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
    advance(limits.claimLeaseMs / 3);
    await settle();
    expect(await updatedAt()).toBe(1_000 + (beat * limits.claimLeaseMs) / 3);
  }
  finish('done');
  expect([await working, await updatedAt()]).toEqual(['done', undefined]);

  // Nobody says anything of this one.
  await store.documents.put({ kind: CLAIM, id: 'dead', data: {} });
  const waiting = createSharedClaims(store, schedule).run('dead', NOTHING, DONE);
  let told: string | undefined;
  void waiting.then((answer) => (told = answer));
  for (let waitedMs = 0; waitedMs < limits.claimLeaseMs; waitedMs += 100) {
    await settle();
    expect(told).toBeUndefined();
    advance(100);
  }
  await settle();
  expect(told).toBeUndefined();
  advance(100);
  expect(await waiting).toBe('done');
});

it('[P61] who finds its claim taken after it was frozen leaves it to the other, and gives the answer of the first', async () => {
  const { clock, store } = open();
  const { schedule, advance } = createManualSchedule(clock);
  let finish: (answer: string) => void = () => {};
  const frozen = createSharedClaims(store, () => () => {}).run(
    'x',
    NOTHING,
    () => new Promise<string>((resolve) => (finish = resolve)),
  );
  await new Promise((resolve) => setImmediate(resolve));
  advance(limits.claimLeaseMs + 1);
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

  const door = createReplays({ keys: store.keys, clock, onMishap: () => {} });
  const put = { workspaceId: 'w', expiresAt: clock.now() + 1_000 };
  const answer = await door.run(REQUEST, async (memory) => {
    const { key, result } = memory.toKey({ by: 'second' });
    // The first one is done in this moment, and the write of the second is refused.
    await store.keys.putIfAbsent({ ...put, key, result: { ...result, body: { by: 'first' } } });
    throw storeError('key_taken', 'something was done under the key already');
  });
  expect([answer.body, answer.headers]).toEqual([{ by: 'first' }, { 'idempotency-replayed': 'true' }]);
});

it('[P77] who comes to write a request after another node was asked for it again writes nothing, and two alike that are both meant are both carried out', async () => {
  const { clock, store } = open();
  const doors = [1, 2].map(() =>
    createReplays({ keys: store.keys, clock, onMishap: () => {}, claims: createSharedClaims(store, systemSchedule) }),
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
  const frozen = doors[0]!.run(request, async (memory) => {
    await new Promise<void>((resolve) => (goOn = resolve));
    return write('frozen')(memory);
  });
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  expect((await doors[1]!.run({ ...request, retryCount: 1 }, write('again'))).body).toEqual({ by: 'again' });
  goOn();
  expect((await frozen).body).toEqual({ by: 'again' });
  expect(done).toEqual(['again']);

  // Said a second time and meant: nobody has repeated it since it came.
  clock.advance(1);
  await doors[0]!.run(request, write('second'));
  await Promise.all(doors.map((door, at) => door.run(request, write(`third ${at}`))));
  expect(done).toEqual(['again', 'second', 'third 0', 'third 1']);
  // A repetition is of the newest, also if that came to its end in the same moment.
  const late = await doors[0]!.run({ ...request, retryCount: 1 }, write('never'));
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
