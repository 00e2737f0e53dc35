import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { baseLimits } from '../base/limits.ts';
import { sessionLimits } from './core/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import { commitOne } from '../store/write.ts';
import type { SessionFrame } from '../frames/frames.ts';
import { decide } from './core/decide.ts';
import { readState } from './runtime/read-state.ts';
import { primaryOf } from './core/state/state.ts';
import {
  confirm,
  crash,
  createGate,
  delegates,
  type Fleet,
  hang,
  interruption,
  lead,
  message,
  openFleet,
  result,
  sends,
  solo,
  workspaceId,
} from './suite/fleet.suite.ts';
import { onEachStore, openMemory } from './suite/stores.suite.ts';

const is = (wanted: string) => (frame: SessionFrame) => frame.type === wanted;
const bash = { kind: 'builtin' as const };

/** From the frame behind which it was killed, what the next process made of it. */
async function recovered(fleet: Fleet, id: string, isLast: (frame: SessionFrame) => boolean, more = {}) {
  const next = await crash(fleet, isLast, more);
  const seq = (await fleet.frames(id)).find(isLast)!.seq;
  await next.rest(id, seq);
  const story = await next.story(id);
  return { next, behind: await next.story(id, seq), ends: await next.payloads(id, 'turn.ended'), story };
}

it('[R130] an open model request is made again, and its partial text is not in the history', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, { turns: [[{ say: 'Hello there, all of you.' }]] });
  await fleet.rest(id);
  for (const type of ['span.model_request_start', 'delta.text']) {
    const { behind, ends, next } = await recovered(fleet, id, is(type));
    expect(behind.slice(0, 7)).toEqual([
      'solo model_request_end error',
      'solo error retrying',
      'solo thread_status_rescheduled',
      'session status_rescheduled',
      'solo turn.retried',
      'session status_running',
      'solo thread_status_running',
    ]);
    expect(ends).toMatchObject([{ ok: true }]);
    expect((await next.payloads(id, 'agent.message')).map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'Hello there, all of you.' }],
    ]);
    expect(await next.payloads(id, 'run.ended')).toHaveLength(1);
  }
});

it('[R130] restarts use up no attempt, however many there are', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, { turns: [[{ say: 'At last.' }]] });
  await fleet.rest(id);
  const { seq, time } = (await fleet.frames(id)).find(is('span.model_request_start'))!;
  const state = (await readState(fleet.store, id, { upTo: seq }))!;
  const sources = {
    clock: { now: () => time },
    ids: createIds({ now: () => time, random: () => 0 }),
    models: { windowTokens: () => 1_000_000 },
  };
  const { id: threadId } = primaryOf(state);
  for (let count = 1; count <= baseLimits.requestRetriesMax + 2; count++) {
    decide(state, { type: 'recover' }, sources);
    expect(primaryOf(state).turn).toMatchObject({ phase: { type: 'waiting', at: time }, failures: 0 });
    decide(state, { type: 'retry', threadId, at: time }, sources);
    expect(primaryOf(state).turn).toMatchObject({ phase: { type: 'requesting' } });
  }
});

it('[R131] a tool that had started is not run again: the model reads that it was interrupted', async () => {
  let runs = 0;
  const fleet = await openFleet({ tools: { bash: { ...bash, run: () => (runs++, result('ran')) } } });
  const when = [
    { match: 'interrupted before completion', turn: [{ say: 'I see.' }] },
    { match: 'ran', turn: [{ say: 'Fine.' }] },
  ];
  const id = await fleet.begin(solo, { when, else: [{ call: 'bash' }] });
  await fleet.rest(id);
  expect(runs).toBe(1);
  const { behind, ends, next } = await recovered(fleet, id, is('tool.started'));
  expect(runs).toBe(1);
  expect(behind.slice(0, 2)).toEqual(['solo tool_result interrupted', 'solo model_request_start']);
  expect(ends).toMatchObject([{ ok: true }]);
  expect(await next.payloads(id, 'agent.message')).toMatchObject([{ content: [{ text: 'I see.' }] }]);
});

it('[R132] a pending retry continues, and a session that has not begun yet is begun', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, {
    turns: [[{ fail: { status: 529, times: 1, retry_after_s: 0 } }, { say: 'Better.' }]],
  });
  await fleet.rest(id);
  const waiting = await recovered(fleet, id, is('session.status_rescheduled'));
  expect(waiting.behind[0]).toBe('solo turn.retried');
  expect(waiting.ends).toMatchObject([{ ok: true }]);
  const fresh = await recovered(fleet, id, is('session.created'));
  expect(fresh.behind[0]).toBe('session run.started');
  expect(fresh.ends).toMatchObject([{ ok: true }]);
});

it('[R133] a message that was sent and not consumed is consumed', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, 'one');
  const { seq } = await fleet.rest(id);
  const next = await crash(fleet, is('session.status_idle'));
  await next.close();
  // A client's event, while no process owns the session.
  const input = { id: 'sevt_left', threadId: null, time: 0, data: { event: message('two') } };
  await commitOne(next.store, { type: 'submit', sessionId: id, changes: [{ type: 'enqueue_input', input }] });
  const last = await openFleet({ store: next.store, owner: 'last' });
  await last.rest(id, seq);
  expect((await last.payloads(id, 'user.message')).at(-1)).toMatchObject({ id: 'sevt_left', is_processed: true });
});

it('[R134] a turn that was being stopped is stopped: its tool is not waited for', async () => {
  const gate = createGate();
  const fleet = await openFleet({ tools: { bash: { ...bash, run: async () => (await gate.opened, result('ran')) } } });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Never.' }]] });
  await fleet.until(id, is('tool.started'));
  await fleet.send(id, interruption());
  await fleet.until(id, is('turn.stopping'));
  const { behind } = await recovered(fleet, id, is('turn.stopping'));
  expect(behind).toEqual([
    'solo tool_result interrupted',
    'solo turn.ended cancelled',
    'solo thread_status_idle end_turn',
    'session run.ended cancelled',
    'session usage',
    'session status_idle end_turn',
  ]);
  gate.open();
});

it('[R135] a thread that waits for children still waits, also for interrupted ones', async () => {
  const fleet = await openFleet({ tools: { bash, ask: { ...bash, permission: 'ask' } } });
  const tasks = [
    { turns: [[{ call: 'bash' }], [{ say: 'One.' }]] },
    { turns: [[{ say: 'Two.' }]] },
    { turns: [[{ call: 'ask' }], [{ say: 'Three.' }]] },
  ];
  const id = await fleet.begin(lead, {
    turns: [[delegates(...tasks)], [{ expect: { tool_result: ['One.', 'Two.', 'Three.'] } }, { say: 'Done.' }]],
  });
  const { seq } = await fleet.rest(id);
  const [use] = await fleet.asks(id);
  const cuts: ((frame: SessionFrame) => boolean)[] = [
    is('session.thread_created'),
    (frame) => frame.type === 'tool.started' && frame.turn!.depth === 1,
    (frame) => frame.type === 'turn.ended' && frame.turn!.depth === 1,
    is('session.status_idle'),
  ];
  for (const isLast of cuts) {
    const next = await crash(fleet, isLast);
    await next.rest(id);
    const [asked] = await next.asks(id);
    if (isLast === cuts.at(-1)) expect(asked).toBe(use);
    const head = await next.head(id);
    await next.send(id, confirm(asked!));
    expect((await next.rest(id, head)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect((await next.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
  }
  expect(seq).toBeGreaterThan(0);
});

it('[R136] letters that were on their way arrive once', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(lead, {
    turns: [[sends({ turns: [[{ say: 'Report.' }]] })], [{ say: 'Waiting.' }], [{ say: 'Thanks.' }]],
  });
  await fleet.rest(id);
  const { ends, next } = await recovered(
    fleet,
    id,
    (frame) => frame.type === 'agent.thread_message_received' && frame.payload.from_agent_name === 'worker',
  );
  expect(ends.every(({ ok }) => ok)).toBe(true);
  const [primary] = [...(await next.state(id)).threads.values()];
  const [wanted] = [...(await fleet.state(id)).threads.values()];
  expect(primary!.history).toEqual(wanted!.history);
});

it('[I5] wherever the process is killed, every turn that was begun ends, and the session becomes idle', async () => {
  const fleet = await openFleet({ tools: { bash } });
  const task = { turns: [[{ think: 'Hm.' }, { call: 'bash' }], [{ say: 'One.' }]] };
  const id = await fleet.begin(lead, {
    turns: [
      [sends(task), delegates(task, { turns: [[{ fail: { status: 529, retry_after_s: 0 } }, { say: 'Two.' }]] })],
      [{ say: 'Done.' }],
    ],
  });
  await fleet.rest(id);
  const firsts = fleet.store.writes.flatMap((write) => ('frames' in write ? [write.frames] : []));
  expect(firsts.length).toBeGreaterThan(20);
  for (let commits = 1; commits < firsts.length; commits++) {
    let seen = 0;
    // The last frame of each write that was committed on its own.
    const ends = new Set(firsts.slice(0, commits).map(({ length }) => (seen += length)));
    const last = Math.max(...ends);
    let at = 0;
    const next = await crash(fleet, () => ++at === last);
    await next.rest(id);
    const state = await next.state(id);
    expect([...state.threads.values()].filter(({ turn }) => turn !== null)).toEqual([]);
    const types = await next.types(id);
    for (const [begin, end] of [
      ['turn.started', 'turn.ended'],
      ['run.started', 'run.ended'],
      ['span.model_request_start', 'span.model_request_end'],
    ]) {
      expect(types.filter((type) => type === begin).length).toBe(types.filter((type) => type === end).length);
    }
    await next.close();
  }
});

onEachStore((openStore) => {
  it('[R137] a session belongs to one process: a process that has lost it stops everything, and writes nothing more', async () => {
    const store = await openStore();
    const signals: AbortSignal[] = [];
    const gate = createGate();
    const run = async (_: unknown, signal: AbortSignal) => (signals.push(signal), await gate.opened, result('late'));
    const fleet = await openFleet({ store, tools: { bash: { ...bash, run } } });
    const id = await fleet.begin(lead, {
      turns: [[{ call: 'bash' }, delegates({ turns: [[hang]] })], [{ say: 'Never.' }]],
    });
    await fleet.until(id, is('tool.started'));
    const taken = await store.leases.acquire({ sessionId: id, owner: 'test', ttlMs: 60_000 });
    expect(taken.ok).toBe(true);
    const head = await fleet.head(id);
    await fleet.send(id, interruption());
    gate.open();
    await expect.poll(() => fleet.problems.length).toBeGreaterThan(0);
    expect(fleet.problems).toMatchObject([{ code: 'stale_owner' }]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await fleet.head(id)).toBe(head);
    expect(await store.inputs.peek(id, 10)).toHaveLength(1);
  });

  it('[R138] an update by a process that lost the session is forwarded to its owner; if no owner runs it in time, it is refused and never run', async () => {
    const store = await openStore();
    const fleet = await openFleet({ store, ownerWaitMs: 50 });
    const id = await fleet.begin(solo, 'Hello');
    const { seq } = await fleet.rest(id);
    const taken = await store.leases.acquire({ sessionId: id, owner: 'test', ttlMs: 60_000 });
    await store.leases.release({ sessionId: id, fence: taken.ok ? taken.fence : 0 });
    const silent = await store.leases.acquire({ sessionId: id, owner: 'silent', ttlMs: 60_000 });
    await expect(fleet.sessions.update({ workspaceId, sessionId: id, title: 'New' })).rejects.toMatchObject({
      code: 'session_elsewhere',
    });
    expect(await fleet.head(id)).toBe(seq);
    await store.leases.release({ sessionId: id, fence: silent.ok ? silent.fence : 0 });
    await fleet.sessions.applyInputs(id);
    expect(await store.inputs.peek(id, 1)).toEqual([]);
    expect(await store.sessions.get(workspaceId, id)).toMatchObject({ data: { title: null } });
  });
});

it('[R139] a disk that fails once loses nothing: the session is opened again, and continues', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  let isBroken = false;
  const commit: typeof store.commit = (writes) =>
    isBroken ? Promise.reject(new Error('disk full')) : store.commit(writes);
  const gate = createGate();
  const run = async () => (await gate.opened, result('ran'));
  const fleet = await openFleet({
    store: { ...store, commit },
    clock,
    schedule: time.schedule,
    tools: { bash: { ...bash, run } },
  });
  const id = await fleet.begin(solo, {
    turns: [[{ call: 'bash' }], [{ expect: { is_error: true } }, { say: 'Done.' }]],
  });
  await fleet.until(id, is('tool.started'));
  isBroken = true;
  gate.open();
  await expect.poll(() => fleet.problems).toMatchObject([{ code: 'store_failed' }]);
  isBroken = false;
  const head = await fleet.head(id);
  await new Promise((resolve) => setTimeout(resolve, 20));
  time.advance(sessionLimits.hostTickMs);
  await fleet.rest(id);
  expect((await fleet.story(id, head)).slice(0, 2)).toEqual([
    'solo tool_result interrupted',
    'solo model_request_start',
  ]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[P94] a request that was interrupted because only the database failed is not reported as a restart of the server', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  let state: 'whole' | 'broken' | 'repaired' = 'whole';
  const commit: typeof store.commit = (writes) => {
    if (state === 'broken') return Promise.reject(new Error('connection lost'));
    const frames = writes.flatMap((write) => ('frames' in write ? write.frames : []));
    const isStart = frames.some(({ bytes }) => Buffer.from(bytes).includes('span.model_request_start'));
    if (isStart && state === 'whole') state = 'broken';
    return store.commit(writes);
  };
  const fleet = await openFleet({ store: { ...store, commit }, clock, schedule: time.schedule });
  const id = await fleet.begin(solo, { turns: [[{ say: 'Done.' }]] });
  await expect.poll(() => fleet.problems).toMatchObject([{ code: 'store_failed' }]);
  state = 'repaired';
  await new Promise((resolve) => setTimeout(resolve, 20));
  const hasEnded = async () => {
    // The session is opened again by the next tick, and the request is repeated by a timer.
    time.advance(sessionLimits.hostTickMs);
    return (await fleet.payloads(id, 'turn.ended')).length;
  };
  await expect.poll(hasEnded, { timeout: 10_000 }).toBe(1);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    { error: { message: 'the server had to close the session during this request', reason: 'restarted' } },
  ]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});
