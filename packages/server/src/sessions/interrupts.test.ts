import { expect, it } from 'vitest';
import { createManualClock } from '../base/clock.ts';
import type { EngineEvent } from '../engines/model/engine.ts';
import { interrupted } from '../engines/model/failures.ts';
import { toolLimits } from '../tools/limits.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import {
  confirm,
  createGate,
  delegates,
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
import { onEachStore } from './suite/stores.suite.ts';
import { createPlainEngine } from './suite/plain-engine.suite.ts';
import { noUsage } from './core/state/state.ts';

const wire = 'Tool execution was interrupted before completion. Please retry.';

/** A tool that ends only when it is aborted, and records that it did. */
function createStoppable() {
  const stopped: string[] = [];
  const run = (_: unknown, signal: AbortSignal) =>
    new Promise<ReturnType<typeof result>>((resolve) => {
      signal.addEventListener('abort', () => {
        stopped.push('stopped');
        resolve(result('half done'));
      });
    });
  return { stopped, tool: { kind: 'builtin' as const, run } };
}

it('[R221] the usage of an interrupted model request is counted as far as its engine reported it', async () => {
  const fleet = await openFleet();
  const usage = { input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 5 };
  const child = { usage, turns: [[{ say: 'Once upon a time', chunks: 2 }, hang]] };
  const id = await fleet.begin(lead, { usage, turns: [[delegates(child)]] });
  await fleet.until(id, ({ type }) => type === 'delta.text');
  await fleet.send(id, interruption());
  await fleet.rest(id);
  const ends = await fleet.payloads(id, 'span.model_request_end');
  expect(ends).toMatchObject([
    { is_error: false, model_usage: { input_tokens: 100, cost_nano_usd: 7 } },
    { is_error: true, model_usage: { input_tokens: 100, cache_read_input_tokens: 5, cost_nano_usd: 7 } },
  ]);
  expect((await fleet.state(id)).usage).toMatchObject({ input_tokens: 200, cost_nano_usd: 14 });
});

it('[R221] nothing is counted of a model request whose engine reported no usage', async () => {
  const fleet = await openFleet({ engine: createPlainEngine((_, signal) => saysNothing(signal)) });
  const id = await fleet.begin(solo, 'Go');
  await fleet.until(id, ({ type }) => type === 'span.model_request_start');
  await fleet.send(id, interruption());
  await fleet.rest(id);
  expect((await fleet.state(id)).usage).toEqual(noUsage);
});

async function* saysNothing(signal: AbortSignal): AsyncGenerator<EngineEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  yield { type: 'failed', failure: interrupted(), usage: null };
}

onEachStore((openStore) => {
  it('[R60] a model request is stopped at once: its end is logged without a message, and the turn ends normally', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const when = [{ match: 'Go on', turn: [{ say: 'Again.' }] }];
    const id = await fleet.begin(solo, { when, else: [{ say: 'Once upon a time', chunks: 2 }, hang] });
    await fleet.until(id, ({ type }) => type === 'delta.text');
    const [sent] = await fleet.send(id, interruption());
    const { seq } = await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.slice(story.indexOf('session user.interrupt'))).toEqual([
      'session user.interrupt',
      'solo model_request_end error',
      'solo turn.ended cancelled',
      'solo thread_status_idle end_turn',
      'session run.ended cancelled',
      'session usage',
      'session status_idle end_turn',
    ]);
    expect(story).not.toContain('solo message');
    expect(await fleet.payloads(id, 'user.interrupt')).toEqual([{ id: sent!.id, session_thread_id: null }]);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: false, stop_reason: 'cancelled' }]);
    expect(await fleet.payloads(id, 'span.model_request_end')).toMatchObject([
      { model: 'scripted/echo', is_error: true },
    ]);
    await fleet.send(id, message('Go on'));
    await fleet.rest(id, seq);
    expect((await fleet.payloads(id, 'turn.ended'))[1]).toMatchObject({ ok: true });
  });

  it('[R61] running tools are aborted; until they have stopped, the session runs, and their results are void', async () => {
    const gate = createGate();
    const slow = { kind: 'builtin' as const, run: async () => (await gate.opened, result('too late')) };
    const fleet = await openFleet({ store: await openStore(), tools: { slow } });
    const id = await fleet.begin(solo, { turns: [[{ call: 'slow' }], [{ say: 'Never.' }]] });
    await fleet.until(id, ({ type }) => type === 'tool.started');
    await fleet.send(id, interruption());
    await fleet.until(id, ({ type }) => type === 'turn.stopping');
    expect((await fleet.state(id)).status).toBe('running');
    gate.open();
    await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.slice(story.indexOf('session user.interrupt'))).toEqual([
      'session user.interrupt',
      'solo turn.stopping',
      'solo tool_result interrupted',
      'solo turn.ended cancelled',
      'solo thread_status_idle end_turn',
      'session run.ended cancelled',
      'session usage',
      'session status_idle end_turn',
    ]);
    expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([
      { is_error: true, is_interrupted: true, content: [{ type: 'text', text: wire }] },
    ]);
  });

  it('[R62] calls that wait for the client are closed with the words of the wire, without a model request', async () => {
    const tools = { bash: { kind: 'builtin' as const, permission: 'ask' as const }, form: { kind: 'custom' as const } };
    const fleet = await openFleet({ store: await openStore(), tools });
    const turns = [
      [{ call: 'bash' }, { call: 'form' }],
      [{ expect: { contains: wire } }, { say: 'I see.' }],
    ];
    const id = await fleet.begin(solo, { turns });
    const { seq } = await fleet.rest(id);
    const [bash, form] = await fleet.asks(id);
    await fleet.send(id, interruption());
    const second = await fleet.rest(id, seq);
    expect(await fleet.story(id, seq)).toEqual([
      'session user.interrupt',
      'solo tool_result interrupted',
      'solo tool_result interrupted',
      'solo turn.ended cancelled',
      'solo thread_status_idle end_turn',
      'session run.ended cancelled',
      'session usage',
      'session status_idle end_turn',
    ]);
    await expect(fleet.send(id, confirm(bash!))).rejects.toMatchObject({ code: 'approval_withdrawn' });
    const late = { type: 'user.custom_tool_result' as const, custom_tool_use_id: form!, content: [], is_error: false };
    await expect(fleet.send(id, late)).rejects.toMatchObject({ code: 'approval_withdrawn' });
    const { items } = await fleet.store.approvals.list({ workspaceId, sessionId: id, isPending: true, limit: 10 });
    expect(items).toEqual([]);
    await fleet.send(id, message('And now?'));
    await fleet.rest(id, second.seq);
    expect((await fleet.payloads(id, 'turn.ended'))[1]).toMatchObject({ ok: true });
  });

  it('[R63] everything stops at once: reports of stopped threads wake no thread', async () => {
    const { tool, stopped } = createStoppable();
    const fleet = await openFleet({
      store: await openStore(),
      tools: { tool, ask: { kind: 'builtin', permission: 'ask' } },
    });
    const tasks = [{ turns: [[{ call: 'tool' }]] }, { turns: [[hang]] }, { turns: [[{ call: 'ask' }]] }];
    const id = await fleet.begin(lead, { turns: [[delegates(...tasks)], [{ say: 'Never.' }]] });
    await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
    await fleet.until(id, ({ type, turn }) => type === 'tool.started' && turn!.depth === 1);
    const head = await fleet.head(id);
    await fleet.send(id, interruption());
    await fleet.rest(id, head);
    expect(stopped).toEqual(['stopped']);
    const story = await fleet.story(id, head);
    expect(story.filter((line) => line.includes('turn.ended')).toSorted()).toEqual([
      'lead turn.ended cancelled',
      'worker turn.ended cancelled',
      'worker#2 turn.ended cancelled',
      'worker#3 turn.ended cancelled',
    ]);
    expect(story.filter((line) => /thread_message|turn.started|model_request_start/.test(line))).toEqual([]);
    expect(story.at(-1)).toBe('session status_idle end_turn');
  });
});

it('[R64] one child is stopped: the thread that waits for it gets an ERR, and its siblings continue', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const tasks = [{ turns: [[{ say: 'Half' }, hang]] }, { turns: [[{ call: 'wait' }], [{ say: 'Whole.' }]] }];
  const id = await fleet.begin(lead, { turns: [[delegates(...tasks)], [{ say: '{{last_result}}' }]] });
  await fleet.until(id, ({ type }) => type === 'delta.text');
  await fleet.until(id, ({ type, turn }) => type === 'tool.started' && turn!.depth === 1);
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  const [sent] = await fleet.send(id, interruption(child));
  expect(sent!.threadId).toBe(child);
  await fleet.until(id, ({ type, threadId }) => type === 'turn.ended' && threadId === child);
  expect((await fleet.state(id)).status).toBe('running');
  gate.open();
  await fleet.rest(id);
  const joined = (await fleet.payloads(id, 'agent.tool_result')).at(-1)!;
  expect(joined.content).toMatchObject([
    {},
    { text: 'ERR: worker did not finish: it was interrupted' },
    {},
    { text: 'Whole.' },
  ]);
  const ends = await fleet.payloads(id, 'turn.ended');
  expect(ends.map(({ stop_reason: reason }) => reason)).toEqual(['cancelled', 'end_turn', 'end_turn']);
});

it('[R65] a child with a task that is stopped reports it, which wakes the coordinator', async () => {
  const fleet = await openFleet();
  const woken = [{ expect: { contains: 'ERR: worker did not finish: it was interrupted' } }, { say: 'I see.' }];
  const id = await fleet.begin(lead, { turns: [[sends({ turns: [[hang]] })], [{ say: 'Waiting.' }], woken] });
  await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await fleet.send(id, interruption(child));
  await fleet.rest(id);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, false, true]);
});

it('[R66] only the coordinator is stopped: its children continue, and their reports wake it', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const task = { turns: [[{ call: 'wait' }], [{ say: 'Report.' }]] };
  const woken = [{ expect: { contains: ['Report.', wire] } }, { say: 'Thanks.' }];
  const id = await fleet.begin(lead, { turns: [[delegates(task)], woken] });
  await fleet.until(id, ({ type, turn }) => type === 'tool.started' && turn!.depth === 1);
  const { primary_thread_id: primary } = (await fleet.state(id)).created;
  const head = await fleet.head(id);
  await fleet.send(id, interruption(primary));
  await fleet.until(id, ({ type, threadId }) => type === 'turn.ended' && threadId === primary, head);
  expect((await fleet.state(id)).status).toBe('running');
  gate.open();
  await fleet.rest(id);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ stop_reason: reason }) => reason)).toEqual([
    'cancelled',
    'end_turn',
    'end_turn',
  ]);
  expect((await fleet.payloads(id, 'run.ended'))[0]).toMatchObject({ ok: true, content: 'Thanks.' });
});

it('[R67] an interrupt of a subtree stops all its children, and its parent gets a report', async () => {
  const fleet = await openFleet();
  const middle = { turns: [[delegates({ turns: [[hang]] })], [{ say: 'Never.' }]] };
  const id = await fleet.begin(lead, { turns: [[delegates(middle)], [{ say: 'Done.' }]] }, { depthMax: 2 });
  await fleet.until(id, ({ type, turn }) => type === 'span.model_request_start' && turn!.depth === 2);
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await fleet.send(id, interruption(child, true));
  await fleet.rest(id);
  const ends = (await fleet.frames(id)).filter(({ type }) => type === 'turn.ended');
  expect(ends.map(({ turn, payload }) => [turn!.depth, (payload as { stop_reason: string }).stop_reason])).toEqual([
    [2, 'cancelled'],
    [1, 'cancelled'],
    [0, 'end_turn'],
  ]);
});

it('[R68] an interrupt that finds nothing to stop leaves no trace', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, 'Hello');
  const { seq } = await fleet.rest(id);
  await fleet.send(id, interruption());
  const { primary_thread_id: primary } = (await fleet.state(id)).created;
  await fleet.send(id, interruption(primary));
  await fleet.send(id, interruption(), message('Next'));
  await fleet.rest(id, seq);
  const story = await fleet.story(id, seq);
  expect(story[0]).toBe('session run.started');
  expect(story.at(-1)).toBe('session status_idle end_turn');
  expect(story).not.toContain('session user.interrupt');
});

it('[R69] an interrupt overtakes what waits: the turn ends, and what waited begins the next one', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, { turns: [[hang], [{ say: '{{last_user}}' }]] });
  await fleet.until(id, ({ type }) => type === 'span.model_request_start');
  await fleet.send(id, message('waiting'));
  const head = await fleet.head(id);
  await fleet.send(id, interruption(), message('instead'));
  await fleet.until(id, ({ type }) => type === 'turn.started', head);
  const story = await fleet.story(id, head);
  expect(story.filter((line) => /interrupt|turn\.|user.message|status/.test(line)).slice(-7)).toEqual([
    'session user.interrupt',
    'solo turn.ended cancelled',
    'solo thread_status_idle end_turn',
    'solo turn.started',
    'solo thread_status_running',
    'solo user.message',
    'solo user.message',
  ]);
  expect(story.filter((line) => line.startsWith('session status'))).toEqual([]);
});

it('[R70] messages before an interrupt in the same request are stopped by it, and those after it are not', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, 'Hello');
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message({ turns: [[hang]] }), interruption(), message('after'));
  await fleet.rest(id, seq);
  const ends = (await fleet.payloads(id, 'turn.ended')).slice(1);
  expect(ends.map(({ stop_reason: reason }) => reason)).toEqual(['cancelled', 'end_turn']);
});

it('[R71] reports that came before an interrupt are kept for the next turn, and begin none', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const received = [{ expect: { contains: ['Report.', 'And?'] } }, { say: 'Here.' }];
  const id = await fleet.begin(lead, {
    turns: [[sends({ turns: [[{ say: 'Report.' }]] }), { call: 'wait' }], received],
  });
  await fleet.until(
    id,
    ({ type, threadId, turn }) => type === 'agent.thread_message_received' && threadId !== null && turn!.depth === 0,
  );
  await fleet.send(id, interruption());
  await fleet.until(id, ({ type }) => type === 'turn.stopping');
  gate.open();
  const { seq } = await fleet.rest(id);
  expect((await fleet.story(id)).at(-1)).toBe('session status_idle end_turn');
  await fleet.send(id, message('And?'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'turn.ended')).at(-1)).toMatchObject({ ok: true });
});

it('[R72] after a second interrupt that reaches the coordinator too, it is not woken by the first', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ tools: { wait } });
  const id = await fleet.begin(lead, {
    turns: [[sends({ turns: [[{ call: 'wait' }]] })], [{ say: 'Waiting.' }], [{ say: 'Never.' }]],
  });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await fleet.send(id, interruption(child));
  await fleet.until(id, ({ type }) => type === 'turn.stopping');
  await fleet.until(id, ({ type, threadId }) => type === 'turn.ended' && threadId !== child);
  const head = await fleet.head(id);
  await fleet.send(id, interruption());
  await fleet.until(id, ({ type }) => type === 'turn.stopping', head);
  gate.open();
  await fleet.rest(id);
  expect((await fleet.payloads(id, 'turn.ended')).map(({ ok }) => ok)).toEqual([true, false]);
});

it('[R73] a tool that does not stop is not waited for longer than the limit', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const never = { kind: 'builtin' as const, run: () => new Promise<never>(() => {}) };
  const fleet = await openFleet({ tools: { never }, clock, schedule: time.schedule });
  const id = await fleet.begin(solo, { turns: [[{ call: 'never' }], [{ say: 'Never.' }]] });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  await fleet.send(id, interruption());
  await fleet.until(id, ({ type }) => type === 'turn.stopping');
  time.advance(toolLimits.toolStopMsMax - 1);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect((await fleet.state(id)).status).toBe('running');
  time.advance(1);
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([
    { is_interrupted: true, duration_ms: toolLimits.toolStopMsMax },
  ]);
});

it('[R74] a thread that waits for its next attempt stops waiting', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ clock, schedule: time.schedule });
  const id = await fleet.begin(solo, { turns: [[{ fail: { status: 529, times: 3 } }]] });
  await fleet.until(id, ({ type }) => type === 'session.status_rescheduled');
  const waiting = time.waiting();
  await fleet.send(id, interruption());
  await fleet.rest(id);
  expect(time.waiting()).toBe(waiting - 1);
  expect((await fleet.story(id)).slice(-6)).toEqual([
    'session user.interrupt',
    'solo turn.ended cancelled',
    'solo thread_status_idle end_turn',
    'session run.ended cancelled',
    'session usage',
    'session status_idle end_turn',
  ]);
});

it('[R75] a tool that was stopped before it began is never run', async () => {
  const gate = createGate();
  let runs = 0;
  const tools = { bash: { kind: 'builtin' as const, run: () => (runs++, result('ran')) } };
  const fleet = await openFleet({ tools, onWorkspace: () => gate.opened });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Never.' }]] });
  await fleet.until(id, ({ type }) => type === 'tool.started');
  await fleet.send(id, interruption());
  await fleet.until(id, ({ type }) => type === 'turn.stopping');
  gate.open();
  await fleet.rest(id);
  expect(runs).toBe(0);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ is_interrupted: true }]);
});
