import { expect, it } from 'vitest';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { ModelRequest, Stop } from '../engines/engine.ts';
import type { CreateSession } from './create-session.ts';
import { createGate, lead, openFleet, result } from './suite/fleet.suite.ts';
import { createPlainEngine } from './suite/plain-engine.suite.ts';

/** The lead says something, is told what came of it, and ends; its agents answer with what they were told. */
async function say(text: string, more: Partial<CreateSession> & { reason?: Stop['reason']; below?: string } = {}) {
  const { reason = 'end_turn', below, ...create } = more;
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    const { thread, messages } = request;
    const isFirst = !messages.some(({ role }) => role === 'assistant');
    if (thread.agentName === 'lead')
      return { content: [{ type: 'text', text: isFirst ? text : 'Done.' }], reason: isFirst ? reason : 'end_turn' };
    const [told] = messages[0]!.content;
    const echo = told?.type === 'text' ? `heard: ${told.text}` : '';
    return { content: [{ type: 'text', text: below !== undefined && isFirst ? below : echo }] };
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true, ...create });
  await fleet.rest(id);
  const told = seen
    .filter(({ thread }) => thread.agentName === 'lead')
    .at(-1)!
    .messages.at(-1)!;
  return { fleet, id, seen, told: told.content.map((block) => (block.type === 'text' ? block.text : block.type)) };
}

it('[R200] a command on a line of its own delegates, and its result is told as a quoted text', async () => {
  const { fleet, id, seen, told } = await say('Let me ask.\n/agent worker Find the map.\nAll of it.');
  expect(told).toEqual([
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
  // To the model it was no call, so it is not told of one.
  const answers = seen.at(-1)!.messages.filter(({ role }) => role === 'assistant');
  expect(answers).toEqual([
    { role: 'assistant', content: [{ type: 'text', text: expect.stringContaining('/agent') }] },
  ]);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Done.' }]);
});

it('[R201] a block of commands runs them at the same time, and two blocks are two calls', async () => {
  const block = '/parallel\n/agent worker one\n/agent worker two\n/endparallel\n';
  const { fleet, id, told } = await say(`${block}And again:\n${block}`);
  expect((await fleet.state(id)).threads.size).toBe(5);
  expect(await fleet.payloads(id, 'agent.tool_use')).toHaveLength(2);
  expect(told.filter((text) => text.includes('heard: '))).toEqual([
    '> heard: one',
    '> heard: two',
    '> heard: one',
    '> heard: two',
  ]);
});

it('[R202] what is fenced or quoted is not run, and a block without its end is refused as a whole', async () => {
  const quiet = await say('```\n/agent worker one\n```\n> /agent worker two\n');
  expect((await quiet.fleet.state(quiet.id)).threads.size).toBe(1);
  expect(await quiet.fleet.payloads(quiet.id, 'agent.tool_use')).toEqual([]);
  const open = await say('/parallel\n/agent worker one\n/agent worker two\n');
  expect((await open.fleet.state(open.id)).threads.size).toBe(1);
  expect(open.told[0]).toBe('Result of your command:');
  expect(open.told[1]).toMatch(/^> ERR: /);
});

it('[R203] commands are run only where a session was made for them, and by who has somebody to delegate to', async () => {
  for (const more of [{ hasTextCommands: false }, { members: [] }]) {
    const { fleet, id } = await say('/agent worker one', more);
    expect((await fleet.state(id)).threads.size).toBe(1);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
  }
});

it('[R204] at the bottom each command is an ERR, and nobody begins', async () => {
  const { fleet, id } = await say('/agent worker one', { below: '/agent worker two\n/agent worker three' });
  expect((await fleet.state(id)).threads.size).toBe(2);
  const results = await fleet.payloads(id, 'agent.tool_result');
  expect(results.map(({ is_error: isError }) => isError)).toEqual([true, true, false]);
  expect(results[0]!.content).toMatchObject([{ text: expect.stringMatching(/^ERR: agents at depth 1/) }]);
});

it('[R205] a command in which the answer was cut off is not run, and those before it are', async () => {
  const { fleet, id, told } = await say('/agent worker one\n\n/agent worker delete everything but', {
    reason: 'max_tokens',
  });
  expect((await fleet.state(id)).threads.size).toBe(2);
  expect(told.filter((text) => /heard|ERR/.test(text))).toEqual([
    expect.stringContaining('heard: one'),
    expect.stringContaining('ERR: the answer was cut off'),
  ]);
});

it('[R206] where every delegation is a thread of its own only those at work count, and one too many is an ERR', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const engine = createPlainEngine(({ thread, messages }) => {
    const results = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result')).length;
    if (thread.agentName === 'worker') return results === 0 ? callAll(['wait', {}]) : {};
    const call = (count: number): [string, Json] => {
      return ['delegate', { tasks: Array.from({ length: count }, () => ({ agent: 'worker', message: 'x' })) }];
    };
    const blocks = limits.busyChildrenMax / limits.delegateTasksMax;
    if (results === 0) return callAll(...Array.from({ length: blocks }, () => call(limits.delegateTasksMax)), call(1));
    return results === 1 ? callAll(call(1)) : {};
  });
  const fleet = await openFleet({ engine, tools: { wait } });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true });
  const refused = await fleet.until(id, ({ type }) => type === 'agent.tool_result');
  const text = `ERR: ${limits.busyChildrenMax} agents are at work`;
  expect(refused.payload).toMatchObject({ is_error: true, content: [{ text: expect.stringContaining(text) }] });
  expect((await fleet.state(id)).threads.size).toBe(1 + limits.busyChildrenMax);
  gate.open();
  await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(2 + limits.busyChildrenMax);
});

it('[R284] an answer may give 300 tasks: the commands behind them are not run, and one error is reported', async () => {
  expect(limits.textCommandTasksMax).toBe(300);
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `/agent nobody task ${at}\n`).join('');
  for (const [count, refused] of [
    [limits.textCommandTasksMax, 0],
    [limits.textCommandTasksMax + 1, 1],
    [limits.textCommandTasksMax + 500, 1],
  ] as const) {
    const { fleet, id } = await say(lines(count));
    const calls = await fleet.payloads(id, 'agent.tool_use');
    expect(calls).toHaveLength(limits.textCommandTasksMax + refused);
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
    const told = JSON.stringify(messages);
    if (thread.agentName === 'worker') return { content: [{ type: 'text', text: 'BOOM' }] };
    seen.push(told);
    if (told.includes('replaced by a summary')) return { content: [{ type: 'text', text: 'I have read a file.' }] };
    if (seen.length === 1) return callAll(['read', {}]);
    if (seen.length === 2) return callAll(['count', {}]);
    return { content: [{ type: 'text', text: told.includes('not run') ? 'Done.' : command }] };
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

it('[R281] quoted commands are reported in so many answers of a turn, and are only text in later ones', async () => {
  const answers: string[] = [];
  const engine = createPlainEngine(({ messages }) => {
    answers.push(JSON.stringify(messages.at(-1)));
    return answers.length === 1 ? callAll(['read', {}]) : { content: [{ type: 'text', text: '/agent worker go off' }] };
  });
  const tools = { read: { kind: 'builtin' as const, run: () => result('/agent worker go off') } };
  const fleet = await openFleet({ engine, tools });
  const id = await fleet.begin(lead, 'Go', { hasTextCommands: true });
  await fleet.rest(id);
  expect(answers.filter((told) => told.includes('this command was not run'))).toHaveLength(limits.quotedReportsMax);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: '/agent worker go off' }]);
  expect((await fleet.state(id)).threads.size).toBe(1);
});

function callAll(...calls: readonly [name: string, input: Json][]) {
  const content = calls.map(([name, input], at) => ({ type: 'tool_use' as const, id: `toolu_${at}`, name, input }));
  return { content, reason: 'tool_use' as const };
}
