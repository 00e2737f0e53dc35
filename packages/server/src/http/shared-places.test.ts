import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createSharedWorkers } from '../environments/shared-workers.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import { systemSchedule } from '../base/schedule.ts';
import { createReplays, type RepeatableRequest } from './replays.ts';
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
  const request: RepeatableRequest = {
    credential: { kind: 'api', id: 'key_1', workspaceId: 'w' },
    method: 'POST',
    path: '/v1/agents',
    body: Buffer.from('{}'),
    idempotencyKey: 'once',
    retryCount: 0,
  };
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

it('[P61] the claim of a node that died counts for so long, and so long is waited for one that is still at it', async () => {
  const { clock, store } = open();
  let waitedMs = 0;
  const claims = createSharedClaims(store, (run, delayMs) => {
    waitedMs += delayMs;
    setImmediate(run);
    return () => {};
  });
  const run = () =>
    claims.run(
      'x',
      async () => undefined,
      async () => 'done',
    );
  await store.documents.put({ kind: CLAIM, id: 'x', data: {} });
  clock.advance(limits.claimMs);
  await expect(run()).rejects.toMatchObject({ code: 'still_under_way' });
  expect(waitedMs).toBe(limits.claimMs);
  clock.advance(1);
  expect(await run()).toBe('done');
  expect(waitedMs).toBe(limits.claimMs);
});
