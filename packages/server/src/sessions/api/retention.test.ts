import { expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import { encodeFrame } from '../../store/frame.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { owned, sampleFrame, start } from '../../store/suite/samples.suite.ts';
import { commitOne } from '../../store/write.ts';
import { createRetention, type KeepDeltas } from './retention.ts';
import {
  agent,
  delegates,
  type Fleet,
  hang,
  interruption,
  lead,
  message,
  openFleet,
  solo,
  workspaceId,
} from '../suite/fleet.suite.ts';
import {
  begins,
  calls,
  createTestPrograms,
  ends,
  gives,
  turnBegins,
  turnEnds,
} from '../runtime/program/test-program.suite.ts';
import { onEachStore } from '../suite/stores.suite.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const talk = { turns: [[{ think: 'Let me see.' }, { say: 'Hello there, all of you.' }], [{ say: 'And once more.' }]] };

function retain(fleet: Fleet, keep: KeepDeltas, clock = createManualClock(Date.now() + 1_000)) {
  const time = createManualSchedule(clock);
  const { store } = fleet;
  return {
    time,
    retention: createRetention({ store, clock, schedule: time.schedule, keep, workspaces: async () => [workspaceId] }),
  };
}

async function countDeltas(fleet: Fleet, id: string): Promise<number> {
  return (await fleet.frames(id)).filter(({ type }) => type.startsWith('delta.')).length;
}

onEachStore((openStore) => {
  it('[R160] deltas of turns that have ended are removed, and what folds out of the log stays the same', async () => {
    const fleet = await openFleet({ store: await openStore(), isChecked: false });
    const id = await fleet.begin(lead, { turns: [[{ say: 'Go on, then.' }, delegates(talk)], [{ say: 'Done.' }]] });
    await fleet.rest(id);
    const before = await fleet.state(id);
    const kept = (await fleet.frames(id)).filter(({ type }) => !type.startsWith('delta.'));
    const deltas = await countDeltas(fleet, id);
    expect(deltas).toBeGreaterThan(5);
    expect(await retain(fleet, 'none').retention.run()).toBe(deltas);
    expect(await fleet.frames(id)).toEqual(kept);
    expect(await fleet.state(id)).toEqual(before);
    const head = await fleet.head(id);
    await fleet.send(id, message('And?'));
    await fleet.rest(id, head);
    expect((await fleet.payloads(id, 'turn.ended')).at(-1)).toMatchObject({ ok: true });
  });

  it('[R161] the text of a failed request exists only as deltas, so it stays; open turns are not pruned', async () => {
    const fleet = await openFleet({ store: await openStore(), isChecked: false });
    const id = await fleet.begin(solo, { turns: [[{ say: 'Half a sentence' }, hang]] });
    await fleet.until(id, ({ type }) => type === 'delta.text');
    const open = await countDeltas(fleet, id);
    expect(await retain(fleet, 'none').retention.run()).toBe(0);
    await fleet.send(id, interruption());
    await fleet.rest(id);
    expect(await retain(fleet, 'none').retention.run()).toBe(0);
    expect(await countDeltas(fleet, id)).toBeGreaterThanOrEqual(open);
  });
});

it('[MX203] output of a running call is removed like other deltas once its result is in the log', async () => {
  const programs = createTestPrograms();
  const fleet = await openFleet({ programs, isChecked: false });
  const id = await fleet.begin(
    { ...solo, model: { id: 'claude-code/default', effort: { type: 'high' }, speed: 'standard' } },
    'Go.',
  );
  const program = await programs.wait();
  program.emit(turnBegins, begins(), calls('t1', 'allow'), ends());
  program.emit({ type: 'output_delta', key: 'main', callId: 't1', text: 'one' }, gives('t1'), turnEnds);
  await fleet.rest(id);
  expect(await countDeltas(fleet, id)).toBe(1);
  expect(await retain(fleet, 'none').retention.run()).toBe(1);
});

it('[R162] deltas are kept forever, for some days or not at all, as configured', async () => {
  const fleet = await openFleet({ isChecked: false });
  const id = await fleet.begin(solo, talk);
  await fleet.rest(id);
  const ended = (await fleet.frames(id)).find(({ type }) => type === 'turn.ended')!.time;
  const run = (keep: KeepDeltas, now: number) => retain(fleet, keep, createManualClock(now)).retention.run();
  expect(await run('all', ended + 1_000 * dayMs)).toBe(0);
  expect(await run({ days: 3 }, ended + 3 * dayMs)).toBe(0);
  expect(await run({ days: 3 }, ended + 3 * dayMs + 1)).toBeGreaterThan(0);
  expect(await countDeltas(fleet, id)).toBe(0);
});

it('[R163] runs periodically, visits each session once, and continues after a problem', async () => {
  const fleet = await openFleet({ isChecked: false });
  const first = await fleet.begin(agent('first'), talk);
  await fleet.rest(first);
  const clock = createManualClock(Date.now() + 1_000);
  const time = createManualSchedule(clock);
  const reads: string[] = [];
  const problems: string[] = [];
  const store = {
    ...fleet.store,
    read: async (request: Parameters<Fleet['store']['read']>[0]) => (
      reads.push(request.sessionId), fleet.store.read(request)
    ),
  };
  let isBroken = true;
  const retention = createRetention({
    store: {
      ...store,
      prune: async (...args) => (isBroken ? Promise.reject(new Error('no disk')) : fleet.store.prune(...args)),
    },
    clock,
    schedule: time.schedule,
    keep: 'none',
    workspaces: async () => [workspaceId],
    onProblem: (sessionId) => problems.push(sessionId),
  });
  retention.start();
  time.advance(sessionLimits.retentionMs - 1);
  expect(reads).toEqual([]);
  time.advance(1);
  await expect.poll(() => problems).toEqual([first]);
  await expect.poll(() => time.waiting()).toBe(1);
  isBroken = false;
  reads.length = 0;
  clock.setNow(Date.now() + 1_000);
  expect(await retention.run()).toBe(0);
  expect(reads).toEqual([]);
  retention.close();
  expect(time.waiting()).toBe(0);
});

it('[R164] sessions are listed some at a time, and none is left out', async () => {
  const fleet = await openFleet({ isChecked: false });
  const count = storeLimits.retentionPageItems + 1;
  for (let at = 0; at < count; at++) {
    await fleet.sessions.create({ workspaceId, agent: solo, environment: { id: 'env_1', type: 'cloud' } });
  }
  const read = new Set<string>();
  const limitsSeen: number[] = [];
  const { sessions, ...store } = fleet.store;
  const retention = createRetention({
    store: {
      ...store,
      sessions: { ...sessions, list: async (request) => (limitsSeen.push(request.limit), sessions.list(request)) },
      read: async (request) => (read.add(request.sessionId), store.read(request)),
    },
    clock: createManualClock(Date.now() + 1_000),
    schedule: () => () => {},
    keep: 'none',
    workspaces: async () => [workspaceId],
  });
  await retention.run();
  expect(read.size).toBe(count);
  expect(limitsSeen).toEqual([storeLimits.retentionPageItems, storeLimits.retentionPageItems]);
});

it('[R310] a turn of 130,000 deltas is pruned, and timers run in the meantime', async () => {
  const store = await openSqliteStore({ path: ':memory:' });
  const clock = createManualClock(start);
  const fence = await owned(store, 'sesn_1');
  const turn = { streamId: 0, depth: 0, run: 'req_1' };
  const frame = (type: string) => encodeFrame(sampleFrame('', { type, turn, payload: { id: 'sevt_1', text: 'x' } }));
  const deltas = Array.from({ length: 130_000 }, () => frame('delta.text'));
  const frames = [frame('turn.started'), ...deltas, frame('agent.message'), frame('turn.ended')];
  await commitOne(store, { type: 'append', sessionId: 'sesn_1', fence, frames, changes: [] });
  clock.advance(1);
  const problems: unknown[] = [];
  const onProblem = (_: string, error: unknown) => void problems.push(error);
  const workspaces = async () => ['w1'];
  const schedule = () => () => {};
  const retention = createRetention({ store, clock, schedule, keep: 'none', workspaces, onProblem });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  expect(await retention.run()).toBe(130_000);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(5);
  expect(problems).toEqual([]);
  const entries = await store.read({ sessionId: 'sesn_1', after: 0, entriesMax: 99, bytesMax: 99_999 });
  expect(entries.map(({ seq, lastSeq }) => [seq, lastSeq])).toEqual([
    [1, 1],
    [2, 130_001],
    [130_002, 130_002],
    [130_003, 130_003],
  ]);
  await store.close();
});
