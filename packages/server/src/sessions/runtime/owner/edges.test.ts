import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { sessionLimits } from '../../core/limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import { createGate, message, openFleet, result, solo, workspaceId } from '../../suite/fleet.suite.ts';
import { openMemory } from '../../suite/stores.suite.ts';
import { createVirtualTime } from '../../suite/virtual-time.suite.ts';
import type { WorkspaceLocations } from '../../../nodes/workspace-locations.ts';
import { OPEN_PROGRAM } from '../program/open-programs.ts';
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

function locationsWhere(find: WorkspaceLocations['find']): WorkspaceLocations {
  return { find, settle: async () => {}, leave: async () => {}, isHere: async () => false };
}

it('[P43, P117] input without a signal is found at the next tick, and idle sessions are not read one by one', async () => {
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
  for (ticks = 1; ticks <= 2; ticks++) await pass(sessionLimits.sharedTickMs);
  await two.rest(id, seq);
  expect(looks[0]).toBe(1);
  await breathe();
  looks.length = 0;
  for (ticks = 1; ticks <= 20; ticks++) await pass(sessionLimits.sharedTickMs);
  expect(looks).toEqual([]);
});

it('[P117] programs that another process left open are looked for once in a number of ticks', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const looks: number[] = [];
  let ticks = 0;
  const list: typeof store.documents.list = (request) => {
    if (request.kind === OPEN_PROGRAM) looks.push(ticks);
    return store.documents.list(request);
  };
  await openFleet({
    store: { ...store, documents: { ...store.documents, list } },
    clock,
    schedule,
    owner: 'one',
    shared: {},
  });
  await breathe();
  looks.length = 0;
  for (ticks = 1; ticks <= 2 * sessionLimits.sharedPollTicks; ticks++) await pass(sessionLimits.sharedTickMs);
  const [first = 0, second = 0] = looks;
  expect([looks.length, second - first]).toEqual([2, sessionLimits.sharedPollTicks]);
});

it('[P46] a process takes its share of as many sessions as it looks at, and of no more', async () => {
  const { clock, schedule, store, breathe } = await open();
  const orphans = Array.from({ length: sessionLimits.sharedOrphansMax + 1 }, (_, at) => `sesn_${at}`);
  const leases = { ...store.leases, findOrphans: async (limit: number) => orphans.slice(0, limit) };
  const asked: string[] = [];
  const locations = locationsWhere(async (sessionId) => (asked.push(sessionId), 'elsewhere'));
  // With one more it would be two.
  const shared = { locations, countNodes: () => sessionLimits.sharedOrphansMax };
  await openFleet({ store: { ...store, leases }, clock, schedule, owner: 'one', shared });
  await breathe();
  expect(asked).toHaveLength(1);
});

it('[P46] the location of a workspace on another node is cached for a limited time', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const leases = { ...store.leases, findOrphans: async () => ['sesn_1'] };
  const askedAt: number[] = [];
  const locations = locationsWhere(async () => (askedAt.push(clock.steady()), 'elsewhere'));
  await openFleet({ store: { ...store, leases }, clock, schedule, owner: 'one', shared: { locations, tickMs: 1 } });
  await breathe();
  await pass(sessionLimits.elsewhereMs - 1);
  expect(askedAt).toEqual([0]);
  await pass(1);
  expect(askedAt).toEqual([0, sessionLimits.elsewhereMs]);
});

it('[P46] a process runs a limited number of sessions, including those it is opening; another one waits for room', async () => {
  const { clock, schedule, store } = await open();
  const gate = createGate();
  let count = 0;
  const locations = locationsWhere(async () => {
    count += 1;
    await gate.opened;
    return 'elsewhere';
  });
  const { sessions } = await openFleet({ store, clock, schedule, owner: 'one', shared: { locations } });
  const taking = Array.from({ length: sessionLimits.busySessionsMax }, (_, at) => sessions.applyInputs(`sesn_${at}`));
  await sessions.applyInputs('sesn_more');
  expect(count).toBe(sessionLimits.busySessionsMax);
  gate.open();
  await Promise.all(taking);
  await sessions.applyInputs('sesn_more');
  expect(count).toBe(sessionLimits.busySessionsMax + 1);
});

it('[P49] a caller that waits for an owner polls soon, then less and less often, and a last time at the end of the wait', async () => {
  const time = createVirtualTime();
  const looks: number[] = [];
  const waiter = { store: { subscribe: () => () => {} }, schedule: time.schedule };
  const waiting = waitUntil(waiter, 'sesn_1', sessionLimits.ownerWaitMs, async () => {
    looks.push(time.clock.steady());
    return undefined;
  });
  await time.breathe();
  while (looks.at(-1)! < sessionLimits.ownerWaitMs) await time.step();
  expect(await waiting).toBeUndefined();
  const gaps = looks.slice(1, -1).map((at, index) => at - looks[index]!);
  expect(gaps).toEqual(
    gaps.map((_, index) => Math.min(sessionLimits.ownerLookMs * 2 ** index, sessionLimits.ownerLookMsMax)),
  );
  expect([gaps[0], gaps.at(-1)]).toEqual([sessionLimits.ownerLookMs, sessionLimits.ownerLookMsMax]);
  expect(looks.at(-1)).toBe(sessionLimits.ownerWaitMs);
});

it('[P49] a command fails exactly when the wait for its owner and the margin of its sender are over', async () => {
  const { clock, schedule, store, breathe, pass } = await open();
  const two = await openFleet({ store, clock, schedule, owner: 'two', shared: {} });
  const environment = { id: 'env_1', type: 'cloud' as const };
  const { id } = await two.sessions.create({ workspaceId, agent: solo, environment });
  await store.leases.acquire({ sessionId: id, owner: 'silent', ttlMs: 2 * sessionLimits.ownerWaitMs });
  let code: unknown;
  const tried = two.sessions.archive(workspaceId, id).catch((error: { code: string }) => (code = error.code));
  await breathe();
  await pass(sessionLimits.ownerWaitMs);
  await pass(sessionLimits.forwardMarginMs - 1);
  expect(code).toBeUndefined();
  await pass(1);
  await tried;
  expect(code).toBe('session_elsewhere');
});

it('[P49] the outcome of a command is remembered for a limited time', async () => {
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
  clock.advance(sessionLimits.commandOutcomeMs - 1);
  expect(await store.keys.get(workspaceId, key!)).toMatchObject({ result: { type: 'done' } });
  clock.advance(1);
  expect(await store.keys.get(workspaceId, key!)).toBeUndefined();
});

it('[P48] a tool that runs when its process stops may continue for a limited time', async () => {
  expect(await isStoppedAfter(sessionLimits.handOverToolsMs - 1)).toBe(false);
  expect(await isStoppedAfter(sessionLimits.handOverToolsMs)).toBe(true);
});

/** Whether a tool was aborted when its process has been closing for so long. */
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
  const step = sessionLimits.sharedTickMs;
  for (let left = ms; left > 0; left -= step) await pass(Math.min(step, left));
  const isStopped = running[0]!.aborted;
  await pass(step);
  await closing;
  return isStopped;
}
