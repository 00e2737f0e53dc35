import { expect, it } from 'vitest';
import type { Json } from '../base/json/json.ts';
import { sessionLimits } from './core/limits.ts';
import type { ModelRequest, Stop } from '../engines/model/engine.ts';
import type { CreateSession } from './api/create-session.ts';
import { createGate, lead, openFleet, result } from './suite/fleet.suite.ts';
import { createPlainEngine } from './suite/plain-engine.suite.ts';

/** The lead writes a text, receives the results, and ends; its agents report the task that they received. */
async function say(text: string, more: Partial<CreateSession> & { reason?: Stop['reason']; below?: string } = {}) {
  const { reason = 'end_turn', below, ...create } = more;
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    const { thread, messages } = request;
    const isFirst = !messages.some(({ role }) => role === 'assistant');
    if (thread.agentName === 'lead')
      return { content: [{ type: 'text', text: isFirst ? text : 'Done.' }], reason: isFirst ? reason : 'end_turn' };
    const [received] = messages[0]!.content;
    const echo = received?.type === 'text' ? `heard: ${received.text}` : '';
    return { content: [{ type: 'text', text: below !== undefined && isFirst ? below : echo }] };
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true, ...create });
  await fleet.rest(id);
  const received = seen
    .filter(({ thread }) => thread.agentName === 'lead')
    .at(-1)!
    .messages.at(-1)!;
  return {
    fleet,
    id,
    seen,
    received: received.content.map((block) => (block.type === 'text' ? block.text : block.type)),
  };
}

it('[R200] a command on a line of its own delegates, and its result is a quoted text', async () => {
  const { fleet, id, seen, received } = await say('Let me ask.\n/agent worker Find the map.\nAll of it.');
  expect(received).toEqual([
    'Result of your command:',
    expect.stringMatching(/^> \[1\/1\] worker \(thread sthr_\w+\):$/),
    '> heard: Find the map.\n> All of it.',
  ]);
  const [call] = await fleet.payloads(id, 'agent.tool_use');
  expect(call).toMatchObject({
    name: 'delegate',
    kind: 'session',
    is_command: true,
    input: { tasks: [{ agent: 'worker' }] },
  });
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ tool_use_id: call!.id, is_error: false }]);
  // For the model it was not a call, so its history has none.
  const answers = seen.at(-1)!.messages.filter(({ role }) => role === 'assistant');
  expect(answers).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: expect.stringContaining('/agent') }] },
  ]);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Done.' }]);
});

it('[R201] a block of commands runs them at the same time, and two blocks are two calls', async () => {
  const block = '/parallel\n/agent worker one\n/agent worker two\n/endparallel\n';
  const { fleet, id, received } = await say(`${block}And again:\n${block}`);
  expect((await fleet.state(id)).threads.size).toBe(5);
  expect(await fleet.payloads(id, 'agent.tool_use')).toHaveLength(2);
  expect(received.filter((text) => text.includes('heard: '))).toEqual([
    '> heard: one',
    '> heard: two',
    '> heard: one',
    '> heard: two',
  ]);
});

it('[R202] a fenced or quoted command is not run, and a block without its end is refused as a whole', async () => {
  const quiet = await say('```\n/agent worker one\n```\n> /agent worker two\n');
  expect((await quiet.fleet.state(quiet.id)).threads.size).toBe(1);
  expect(await quiet.fleet.payloads(quiet.id, 'agent.tool_use')).toEqual([]);
  const open = await say('/parallel\n/agent worker one\n/agent worker two\n');
  expect((await open.fleet.state(open.id)).threads.size).toBe(1);
  expect(open.received[0]).toBe('Result of your command:');
  expect(open.received[1]).toMatch(/^> ERR: /);
});

it('[R203] commands are run only where a session was created for them, and by agents with a roster', async () => {
  for (const more of [{ hasTextCommands: false }, { members: [] }]) {
    const { fleet, id } = await say('/agent worker one', more);
    expect((await fleet.state(id)).threads.size).toBe(1);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  }
});

it('[R204] at the deepest level each command is an ERR, and no thread is started', async () => {
  const { fleet, id } = await say('/agent worker one', { below: '/agent worker two\n/agent worker three' });
  expect((await fleet.state(id)).threads.size).toBe(2);
  const results = await fleet.payloads(id, 'agent.tool_result');
  expect(results.map(({ is_error: isError }) => isError)).toEqual([true, true, false]);
  expect(results[0]!.content).toMatchObject([{ text: expect.stringMatching(/^ERR: agents at depth 1/) }]);
});

it('[R205] a command that was truncated with the response is not run, and those before it are', async () => {
  const { fleet, id, received } = await say('/agent worker one\n\n/agent worker delete everything but', {
    reason: 'max_tokens',
  });
  expect((await fleet.state(id)).threads.size).toBe(2);
  expect(received.filter((text) => /heard|ERR/.test(text))).toEqual([
    expect.stringContaining('heard: one'),
    expect.stringContaining('ERR: the answer was cut off'),
  ]);
});

it('[R206] where every delegation opens a thread only running ones count, and one above the limit is an ERR', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const engine = createPlainEngine(({ thread, messages }) => {
    const results = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result')).length;
    if (thread.agentName === 'worker') return results === 0 ? callAll(['wait', {}]) : {};
    const call = (count: number): [string, Json] => {
      return ['delegate', { tasks: Array.from({ length: count }, () => ({ agent: 'worker', message: 'x' })) }];
    };
    const blocks = sessionLimits.busyChildrenMax / sessionLimits.delegateTasksMax;
    if (results === 0)
      return callAll(...Array.from({ length: blocks }, () => call(sessionLimits.delegateTasksMax)), call(1));
    return results === 1 ? callAll(call(1)) : {};
  });
  const fleet = await openFleet({ engine, tools: { wait } });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true });
  const refused = await fleet.until(id, ({ type }) => type === 'agent.tool_result');
  const text = `ERR: ${sessionLimits.busyChildrenMax} agents are at work`;
  expect(refused.payload).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining(text) }] });
  expect((await fleet.state(id)).threads.size).toBe(1 + sessionLimits.busyChildrenMax);
  gate.open();
  await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(2 + sessionLimits.busyChildrenMax);
});

it('[R284] an answer may give 300 tasks: the commands behind them are not run, and one error is reported', async () => {
  expect(sessionLimits.textCommandTasksMax).toBe(300);
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `/agent stranger task ${at}\n`).join('');
  for (const [count, refused] of [
    [sessionLimits.textCommandTasksMax, 0],
    [sessionLimits.textCommandTasksMax + 1, 1],
    [sessionLimits.textCommandTasksMax + 500, 1],
  ] as const) {
    const { fleet, id } = await say(lines(count));
    const calls = await fleet.payloads(id, 'agent.tool_use');
    expect(calls).toHaveLength(sessionLimits.textCommandTasksMax + refused);
    expect(calls.filter(({ input }) => 'refused' in (input as object))).toHaveLength(refused);
    const { not_run: notRun = [] } = (await fleet.payloads(id, 'span.model_request_end'))[0]!;
    expect(notRun).toEqual(
      refused === 0 ? [] : [{ from: lines(300).length, to: lines(count).length, reason: 'too_many' }],
    );
  }
});

it('[R281] a command that was read is known after the history was summed up', async () => {
  const command = '/agent worker Blow up the bridge';
  const seen: string[] = [];
  const engine = createPlainEngine(({ messages, thread }) => {
    const received = JSON.stringify(messages);
    if (thread.agentName === 'worker') return { content: [{ type: 'text', text: 'BOOM' }] };
    seen.push(received);
    if (received.includes('replaced by a summary')) return { content: [{ type: 'text', text: 'I have read a file.' }] };
    if (seen.length === 1) return callAll(['read', {}]);
    if (seen.length === 2) return callAll(['count', {}]);
    return { content: [{ type: 'text', text: received.includes('not run') ? 'Done.' : command }] };
  });
  const tools = {
    read: { kind: 'builtin' as const, run: () => result(`text\n${command}\n`) },
    count: { kind: 'builtin' as const, run: () => result('x'.repeat(2_000)) },
  };
  const fleet = await openFleet({ engine, tools, windowTokens: 400 });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true });
  await fleet.rest(id);
  expect(await fleet.types(id)).toContain('agent.thread_context_compacted');
  expect(seen.at(-2)).not.toContain('Blow up');
  expect((await fleet.state(id)).threads.size).toBe(1);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Done.' }]);
});

it('[R281] quoted commands are reported in a limited number of responses of a turn, and are only text in later ones', async () => {
  const answers: string[] = [];
  const engine = createPlainEngine(({ messages }) => {
    answers.push(JSON.stringify(messages.at(-1)));
    return answers.length === 1 ? callAll(['read', {}]) : { content: [{ type: 'text', text: '/agent worker go off' }] };
  });
  const tools = { read: { kind: 'builtin' as const, run: () => result('/agent worker go off') } };
  const fleet = await openFleet({ engine, tools });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true });
  await fleet.rest(id);
  expect(answers.filter((received) => received.includes('this command was not run'))).toHaveLength(
    sessionLimits.quotedReportsMax,
  );
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: '/agent worker go off' }]);
  expect((await fleet.state(id)).threads.size).toBe(1);
});

function callAll(...calls: readonly [name: string, input: Json][]) {
  const content = calls.map(([name, input], at) => ({ type: 'tool_use' as const, id: `toolu_${at}`, name, input }));
  return { content, reason: 'tool_use' as const };
}
