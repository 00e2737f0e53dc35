import { expect, it } from 'vitest';
import { createManualClock } from '../../../base/clock.ts';
import { sessionLimits } from '../limits.ts';
import { createManualSchedule } from '../../../base/manual-schedule.suite.ts';
import type { EngineEvent } from '../../../engines/model/engine.ts';
import {
  agent,
  confirm,
  crash,
  createGate,
  delegates,
  hang,
  interruption,
  lead,
  message,
  openFleet,
  result,
  sends,
  snapshot,
  solo,
  type TestTool,
  workspaceId,
} from '../../suite/fleet.suite.ts';
import { createPlainEngine } from '../../suite/plain-engine.suite.ts';
import { openMemory } from '../../suite/stores.suite.ts';

// Rows of the tables of statuses that no other file goes through.

const fails = { fail: { status: 529, times: 1, retry_after_s: 60 } };

it('[R230] a session runs while one thread does, is rescheduling while one waits for its next attempt, and then idle', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const fleet = await openFleet({ clock, schedule: time.schedule, tools: { wait } });
  const busy = { turns: [[{ call: 'wait' }], [{ say: 'One.' }]] };
  const failing = { turns: [[fails, { say: 'Two.' }]] };
  const id = await fleet.begin(lead, { turns: [[sends(busy), sends(failing)], [{ say: 'Off they go.' }]] });
  const { seq } = await fleet.until(id, ({ type }) => type === 'session.thread_status_rescheduled');
  await fleet.until(id, ({ type, turn }) => type === 'turn.ended' && turn?.depth === 0);
  const statuses = async () => [...(await fleet.state(id)).threads.values()].map(({ status }) => status);
  expect(await statuses()).toEqual(['idle', 'running', 'rescheduling']);
  expect((await fleet.state(id)).status).toBe('running');
  gate.open();
  const waiting = await fleet.until(id, ({ type }) => type === 'session.status_rescheduled', seq);
  expect(await statuses()).toEqual(['idle', 'idle', 'rescheduling']);
  for (const refused of [fleet.sessions.archive(workspaceId, id), fleet.sessions.delete(workspaceId, id)]) {
    await expect(refused).rejects.toMatchObject({ code: 'session_running' });
  }
  time.advance(60_000);
  await fleet.rest(id, waiting.seq);
  expect((await fleet.story(id)).filter((line) => line.startsWith('session status_'))).toEqual([
    'session status_running',
    'session status_rescheduled',
    'session status_running',
    'session status_idle end_turn',
  ]);
});

it('[R231] a child that waits for a retry is running: it is not archived, and an interrupt ends its wait', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ clock, schedule: time.schedule });
  const id = await fleet.begin(lead, {
    turns: [[sends({ turns: [[fails, { say: 'x' }]] })], [{ say: 'Off it goes.' }]],
  });
  const { seq } = await fleet.until(id, ({ type }) => type === 'session.status_rescheduled');
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await expect(fleet.sessions.archiveThread(workspaceId, id, child)).rejects.toMatchObject({ code: 'thread_running' });
  await fleet.send(id, interruption(child));
  await fleet.rest(id, seq);
  const story = await fleet.story(id, seq);
  expect(story).toContain('worker thread_status_idle end_turn');
  expect(story.at(-1)).toBe('session status_idle end_turn');
  await fleet.sessions.archiveThread(workspaceId, id, child);
});

it('[R239] a clock that is set back makes no wait longer, also after a crash', async () => {
  const day = 24 * 60 * 60 * 1_000;
  const clock = createManualClock(2 * day);
  const time = createManualSchedule(clock);
  const fleet = await openFleet({ clock, schedule: time.schedule });
  const id = await fleet.begin(solo, { turns: [[{ say: 'One.' }], [fails, { say: 'Two.' }]] });
  const { seq } = await fleet.rest(id);
  clock.setNow(day);
  await fleet.send(id, message('Again'));
  const waiting = await fleet.until(id, ({ type }) => type === 'session.status_rescheduled', seq);
  const next = await crash(fleet, ({ type }) => type === 'session.status_rescheduled');
  // It has the session, and waits, when this resolves.
  await next.sessions.applyInputs(id);
  time.advance(60_000);
  for (const each of [fleet, next]) await each.until(id, ({ type }) => type === 'turn.retried', waiting.seq);
});

it('[R232] an approval waits without a time limit: years later it is still named, and can be decided', async () => {
  const clock = createManualClock(1_000);
  const time = createManualSchedule(clock);
  const store = await openMemory(clock);
  const fleet = await openFleet({
    clock,
    store,
    schedule: time.schedule,
    tools: { ask: { kind: 'builtin', permission: 'ask' }, form: { kind: 'custom' } },
  });
  const id = await fleet.begin(lead, {
    turns: [[delegates({ turns: [[{ call: 'ask' }], [{ say: 'Asked.' }]] })], [{ say: 'Done.' }]],
  });
  const { seq } = await fleet.rest(id);
  for (let count = 0; count < 5; count++) {
    time.advance(sessionLimits.hostIdleMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
  time.advance(5 * 365 * 24 * 60 * 60 * 1_000);
  expect(await fleet.head(id)).toBe(seq);
  const [asked] = await fleet.asks(id);
  await fleet.send(id, confirm(asked!));
  expect((await fleet.rest(id, seq)).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
});

it('[R233] a child that has used up its requests, or whose summary does not fit, ends like one whose attempts are used up', async () => {
  const engine = createPlainEngine(({ thread, messages }) => {
    const prompt = JSON.stringify(messages);
    if (thread.agentName === 'lead') {
      const tasks = ['circles', 'overflow'].map((text) => ({ agent: 'worker', message: text }));
      const block = { type: 'tool_use' as const, id: 'toolu_1', name: 'delegate', input: { tasks } };
      return messages.length === 1 ? { content: [block], reason: 'tool_use' } : {};
    }
    if (prompt.includes('overflow')) return overflow();
    const block = { type: 'tool_use' as const, id: `toolu_${messages.length}`, name: 'nothing', input: {} };
    return { content: [block], reason: 'tool_use' };
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go');
  await fleet.rest(id);
  const errors = (await fleet.payloads(id, 'session.error')).map(({ error, retry }) => [error.type, retry]);
  expect(errors.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    ['compaction_limit_reached_error', 'exhausted'],
    ['tool_use_limit_reached_error', 'exhausted'],
  ]);
  const story = await fleet.story(id);
  for (const who of ['worker', 'worker#2']) {
    expect(story.filter((line) => line.startsWith(`${who} `)).slice(-3)).toEqual([
      `${who} turn.ended error`,
      `${who} thread_status_idle retries_exhausted`,
      `${who} thread_status_terminated`,
    ]);
  }
  // No child has finished, so the whole call is an error.
  expect(await fleet.payloads(id, 'agent.tool_result').then((all) => all.at(-1))).toMatchObject({ is_error: true });
  expect((await fleet.payloads(id, 'turn.ended')).at(-1)).toMatchObject({ ok: true });
});

async function* overflow(): AsyncGenerator<EngineEvent> {
  const failure = { reason: 'context_exceeded', message: 'prompt is too long', consequence: 'turn' } as const;
  yield { type: 'failed', failure: { ...failure, retryAfterMs: null }, usage: null };
}

it('[R234] a tool of an MCP server is asked for, denied, run and stopped like any other, in events of its own', async () => {
  let runs = 0;
  const web = { kind: 'mcp' as const, permission: 'ask' as const, run: () => (runs++, result('found')) };
  const fleet = await openFleet({ tools: { web } });
  const id = await fleet.begin(solo, {
    turns: [[{ call: 'web' }, { call: 'web' }, { call: 'web' }], [{ say: 'Never.' }]],
  });
  const first = await fleet.rest(id);
  const [yes, no, open] = await fleet.asks(id);
  await fleet.send(id, confirm(yes!), confirm(no!, 'deny', 'not now'));
  const second = await fleet.rest(id, first.seq);
  expect(second.payload).toMatchObject({ stop_reason: { type: 'requires_action', event_ids: [open] } });
  await fleet.send(id, interruption());
  await fleet.rest(id, second.seq);
  expect(runs).toBe(1);
  const results = await fleet.payloads(id, 'agent.mcp_tool_result');
  const byCall = new Map(results.map((each) => [each.mcp_tool_use_id, each]));
  expect(byCall.get(yes!)).toMatchObject({ is_error: false, content: [{ text: 'found' }] });
  expect(byCall.get(no!)).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining('not now') }] });
  expect(byCall.get(open!)).toMatchObject({
    is_error: true,
    content: [{ text: 'Tool execution was interrupted before completion. Please retry.' }],
  });
  expect(await fleet.types(id)).not.toContain('agent.tool_result');
  expect(await fleet.payloads(id, 'agent.mcp_tool_use')).toMatchObject(
    Array.from({ length: 3 }, () => ({ mcp_server_name: 'server', evaluated_permission: 'ask' })),
  );
});

it('[R238] a call that was approved for one MCP server never runs at another one that has a tool of the same name', async () => {
  const asked: string[] = [];
  const web = (serverName: string): TestTool => ({
    kind: 'mcp',
    permission: 'ask',
    serverName,
    run: () => (asked.push(serverName), result('found')),
  });
  const tools: Record<string, TestTool> = { web: web('docs') };
  const fleet = await openFleet({ tools });
  const turns = [[{ call: 'web' }], [{ expect: { tool_result: 'not available', is_error: true } }, { say: 'Pity.' }]];
  const id = await fleet.begin(solo, { turns });
  const { seq } = await fleet.rest(id);
  tools['web'] = web('other');
  await fleet.send(id, confirm((await fleet.asks(id))[0]!));
  await fleet.rest(id, seq);
  expect(asked).toEqual([]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R235] an MCP server that rejects the credentials is reported as that, for each thread that has it', async () => {
  const problems = [{ type: 'mcp_authentication_failed' as const, serverName: 'files', message: '401' }];
  const fleet = await openFleet({ problems });
  const id = await fleet.begin(lead, { turns: [[delegates('Hello')], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  const reported = (await fleet.frames(id)).filter(({ type }) => type === 'session.error');
  expect(reported.map(({ payload }) => payload)).toMatchObject(
    reported.map(() => ({
      error: { type: 'mcp_authentication_failed_error', mcp_server_name: 'files' },
      retry: 'retrying',
    })),
  );
  expect(reported.map(({ threadId }) => threadId)).toEqual([...(await fleet.state(id)).threads.keys()]);
  expect((await fleet.payloads(id, 'turn.ended')).every(({ ok }) => ok)).toBe(true);
});

it('[R236] the stop reason of a session is that of its primary thread, unless an approval is pending or the budget is used up', async () => {
  const fleet = await openFleet();
  const refusing = { turns: [[{ say: 'No.' }, { stop: 'refusal' }]] };
  const id = await fleet.begin(lead, { turns: [[delegates(refusing)], [{ say: 'Pity.' }]] });
  const first = await fleet.rest(id);
  expect(first.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, stop_details: null });
  const own = await fleet.begin(lead, { turns: [[delegates('Hello')], [{ stop: 'refusal' }]] });
  expect((await fleet.rest(own)).payload).toMatchObject({
    stop_reason: { type: 'refusal' },
    stop_details: { type: 'refusal', category: null, explanation: null },
  });
});

it('[R237] a message behind an interrupt of one child begins nothing there, and the coordinator reads both', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(agent('lead', [snapshot('worker')]), {
    when: [
      { match: 'was interrupted', turn: [{ say: 'It stopped.' }] },
      { match: 'And now', turn: [{ say: 'Now this.' }] },
      { match: 'has begun', turn: [{ say: 'Waiting.' }] },
    ],
    else: [sends({ turns: [[hang]] })],
  });
  await fleet.until(id, ({ type, turn }) => type === 'turn.ended' && turn?.depth === 0);
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  const head = await fleet.head(id);
  await fleet.send(id, interruption(child), message('And now?'));
  await fleet.rest(id, head);
  const story = await fleet.story(id, head);
  expect(story.filter((line) => line.startsWith('worker turn'))).toEqual(['worker turn.ended cancelled']);
  const primary = [...(await fleet.state(id)).threads.values()][0]!;
  expect(JSON.stringify(primary.history)).toMatch(/was interrupted.*And now\?/);
});

it('[H74] where the model of an agent is to run goes with each of its requests', async () => {
  const models: unknown[] = [];
  const engine = createPlainEngine(({ model }) => {
    models.push(model);
    return {};
  });
  const fleet = await openFleet({ engine });
  for (const more of [{ inference_geo: 'eu' }, {}]) {
    const id = await fleet.begin({ ...solo, model: { ...solo.model, ...more } }, 'Go');
    await fleet.rest(id);
  }
  expect(models).toEqual([
    expect.objectContaining({ inferenceGeo: 'eu' }),
    expect.not.objectContaining({ inferenceGeo: 'eu' }),
  ]);
});
