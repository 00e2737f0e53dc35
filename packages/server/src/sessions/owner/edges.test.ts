import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { createGate, message, openFleet, result, solo, workspaceId } from '../suite/fleet.suite.ts';
import { openMemory } from '../suite/stores.suite.ts';
import { createVirtualTime } from '../suite/virtual-time.suite.ts';
import type { Homes } from './homes.ts';
import { waitUntil } from './wait-until.ts';

/** Time that the test makes pass, on a store that is in memory: what follows from it needs turns, but no time. */
async function open() {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const breathe = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number) => {
    time.advance(ms);
    await breathe();
  };
  return { clock, schedule: time.schedule, store: await openMemory(clock), breathe, pass };
}

function homesWhere(find: Homes['find']): Homes {
  return { find, settle: async () => {}, leave: async () => {}, isHere: async () => false };
}

it('[P43] input of which no signal came is found after so many ticks', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const looks: number[] = [];
  let ticks = 0;
  const peek: typeof store.inputs.peek = (...args) => {
    looks.push(ticks);
    return store.inputs.peek(...args);
  };
  const deaf = { ...store, inputs: { ...store.inputs, peek }, subscribe: () => () => {} };
  const one = await openFleet({ store: deaf, clock, schedule, owner: 'one', shared: {} });
  // Nothing makes its timers go off.
  const two = await openFleet({ store, clock, schedule: () => () => {}, owner: 'two', shared: {} });
  const id = await one.begin(solo, 'Hello');
  const { seq } = await two.rest(id);
  await two.send(id, message('Once more'));
  await breathe();
  looks.length = 0;
  for (ticks = 1; ticks <= limits.sharedPollTicks; ticks++) await pass(limits.sharedTickMs);
  await two.rest(id, seq);
  expect([...new Set(looks)]).toEqual([limits.sharedPollTicks]);
});

it('[P46] a process takes its share of as many sessions as it looks at, and of no more', async () => {
  const { clock, schedule, store, breathe } = await open();
  const orphans = Array.from({ length: limits.sharedOrphansMax + 1 }, (_, at) => `sesn_${at}`);
  const leases = { ...store.leases, findOrphans: async (limit: number) => orphans.slice(0, limit) };
  const asked: string[] = [];
  const homes = homesWhere(async (sessionId) => (asked.push(sessionId), 'elsewhere'));
  // With one more it would be two.
  const shared = { homes, countNodes: () => limits.sharedOrphansMax };
  await openFleet({ store: { ...store, leases }, clock, schedule, owner: 'one', shared });
  await breathe();
  expect(asked).toHaveLength(1);
});

it('[P46] that the workspace of a session is elsewhere is believed for so long, and then asked again', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const leases = { ...store.leases, findOrphans: async () => ['sesn_1'] };
  const askedAt: number[] = [];
  const homes = homesWhere(async () => (askedAt.push(clock.steady()), 'elsewhere'));
  await openFleet({ store: { ...store, leases }, clock, schedule, owner: 'one', shared: { homes, tickMs: 1 } });
  await breathe();
  await pass(limits.elsewhereMs - 1);
  expect(askedAt).toEqual([0]);
  await pass(1);
  expect(askedAt).toEqual([0, limits.elsewhereMs]);
});

it('[P46] so many sessions are at work in a process, those that it opens included; another one waits for room', async () => {
  const { clock, schedule, store } = await open();
  const gate = createGate();
  let count = 0;
  const homes = homesWhere(async () => {
    count += 1;
    await gate.opened;
    return 'elsewhere';
  });
  const { sessions } = await openFleet({ store, clock, schedule, owner: 'one', shared: { homes } });
  const taking = Array.from({ length: limits.busySessionsMax }, (_, at) => sessions.take(`sesn_${at}`));
  await sessions.take('sesn_more');
  expect(count).toBe(limits.busySessionsMax);
  gate.open();
  await Promise.all(taking);
  await sessions.take('sesn_more');
  expect(count).toBe(limits.busySessionsMax + 1);
});

it('[P49] who waits for an owner looks soon, then less and less often, and a last time when the wait is over', async () => {
  const time = createVirtualTime();
  const looks: number[] = [];
  const waiter = { store: { subscribe: () => () => {} }, schedule: time.schedule };
  const waiting = waitUntil(waiter, 'sesn_1', limits.ownerWaitMs, async () => {
    looks.push(time.clock.steady());
    return undefined;
  });
  await time.breathe();
  while (looks.at(-1)! < limits.ownerWaitMs) await time.step();
  expect(await waiting).toBeUndefined();
  const gaps = looks.slice(1, -1).map((at, index) => at - looks[index]!);
  expect(gaps).toEqual(gaps.map((_, index) => Math.min(limits.ownerLookMs * 2 ** index, limits.ownerLookMsMax)));
  expect([gaps[0], gaps.at(-1)]).toEqual([limits.ownerLookMs, limits.ownerLookMsMax]);
  expect(looks.at(-1)).toBe(limits.ownerWaitMs);
});

it('[P49] a command is given up exactly when the wait for its owner is over', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const two = await openFleet({ store, clock, schedule, owner: 'two', shared: {} });
  const environment = { id: 'env_1', type: 'cloud' as const };
  const { id } = await two.sessions.create({ workspaceId, agent: solo, environment });
  await store.leases.acquire({ sessionId: id, owner: 'silent', ttlMs: 2 * limits.ownerWaitMs });
  let code: unknown;
  const tried = two.sessions.archive(workspaceId, id).catch((error: { code: string }) => (code = error.code));
  await breathe();
  await pass(limits.ownerWaitMs - 1);
  expect(code).toBeUndefined();
  await pass(1);
  await tried;
  expect(code).toBe('session_elsewhere');
});

it('[P49] what became of a command is known for so long', async () => {
  const { clock, schedule, store } = await open();
  const [one, two] = [
    await openFleet({ store, clock, schedule, owner: 'one', shared: {} }),
    await openFleet({ store, clock, schedule, owner: 'two', shared: {} }),
  ];
  const id = await one.begin(solo, 'Hello');
  await one.rest(id);
  await two.sessions.update({ workspaceId, sessionId: id, title: 'x' });
  const changes = one.store.writes.flatMap((write) => ('changes' in write ? (write.changes ?? []) : []));
  const keys = changes.flatMap((change) => (change.type === 'put_key' ? [change.key.key] : []));
  const key = keys.find((name) => name.startsWith('command '));
  clock.advance(limits.commandOutcomeMs - 1);
  expect(await store.keys.get(workspaceId, key!)).toMatchObject({ result: { type: 'done' } });
  clock.advance(1);
  expect(await store.keys.get(workspaceId, key!)).toBeUndefined();
});

it('[P48] a tool that runs when its process is asked to stop may go on for so long', async () => {
  expect(await isStoppedAfter(limits.handOverToolsMs - 1)).toBe(false);
  expect(await isStoppedAfter(limits.handOverToolsMs)).toBe(true);
});

/** Whether a tool was told to stop when its process has been closing for so long. */
async function isStoppedAfter(ms: number): Promise<boolean> {
  const { clock, schedule, store, breathe, pass } = await open();
  const running: AbortSignal[] = [];
  const run = (_: unknown, signal: AbortSignal) => {
    running.push(signal);
    return new Promise<ReturnType<typeof result>>((resolve) => {
      signal.addEventListener('abort', () => resolve(result('cut off')));
    });
  };
  const tools = { touch: { kind: 'builtin' as const, run } };
  const one = await openFleet({ store, clock, schedule, owner: 'one', shared: {}, tools });
  await one.begin(solo, { turns: [[{ call: 'touch', input: {} }], [{ say: 'end' }]] });
  await expect.poll(() => running.length, { interval: 5 }).toBe(1);
  const closing = one.sessions.close();
  await breathe();
  // With each step it looks once, and its leases are renewed.
  const step = limits.sharedTickMs;
  for (let left = ms; left > 0; left -= step) await pass(Math.min(step, left));
  const isStopped = running[0]!.aborted;
  await pass(step);
  await closing;
  return isStopped;
}
