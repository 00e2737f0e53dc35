import { expect, it } from 'vitest';
import { baseLimits } from '../base/limits.ts';
import { sessionLimits } from './core/limits.ts';
import type { ModelRequest } from '../engines/model/engine.ts';
import { agent, message, openFleet, says, script, snapshot, solo } from './suite/fleet.suite.ts';
import { createPlainEngine, type PlainAnswer } from './suite/plain-engine.suite.ts';
import { onEachStore } from './suite/stores.suite.ts';

const bash = { bash: { kind: 'builtin' as const } };

onEachStore((openStore) => {
  it('[R1] a plain turn is written in the order that readers rely on, and ends with its idle status', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(solo, says('Hello there.'));
    await fleet.rest(id);
    expect(await fleet.story(id)).toEqual([
      'session created',
      'session run.started',
      'solo turn.started',
      'session status_running',
      'solo thread_status_running',
      'solo user.message',
      'solo model_request_start',
      'solo message',
      'solo model_request_end',
      'solo turn.ended end_turn',
      'solo thread_status_idle end_turn',
      'session run.ended end_turn',
      'session usage',
      'session status_idle end_turn',
    ]);
    const [start] = await fleet.payloads(id, 'span.model_request_start');
    const [end] = await fleet.payloads(id, 'span.model_request_end');
    expect(end).toMatchObject({ model_request_start_id: start!.id, is_error: false, model: 'scripted/echo' });
    expect((await fleet.payloads(id, 'run.ended'))[0]).toMatchObject({ ok: true, content: 'Hello there.' });
  });

  it('[R2] a tool call precedes the end of its model request, and its intent and result follow', async () => {
    const fleet = await openFleet({ store: await openStore(), tools: bash });
    const turns = [
      [{ think: 'Hm.' }, { say: 'Looking.' }, { call: 'bash', input: { command: 'ls' } }],
      [{ expect: { tool_result: 'bash ran', is_error: false } }, { say: 'Done: {{last_result}}' }],
    ];
    const id = await fleet.begin(solo, { turns });
    await fleet.rest(id);
    expect((await fleet.story(id)).slice(6)).toEqual([
      'solo model_request_start',
      'solo thinking',
      'solo message',
      'solo tool_use',
      'solo model_request_end',
      'solo tool.started',
      'solo tool_result',
      'solo model_request_start',
      'solo message',
      'solo model_request_end',
      'solo turn.ended end_turn',
      'solo thread_status_idle end_turn',
      'session run.ended end_turn',
      'session usage',
      'session status_idle end_turn',
    ]);
    const [use] = await fleet.payloads(id, 'agent.tool_use');
    const [result] = await fleet.payloads(id, 'agent.tool_result');
    expect(use).toMatchObject({
      name: 'bash',
      input: { command: 'ls' },
      evaluated_permission: 'allow',
      kind: 'builtin',
    });
    expect(result).toMatchObject({ tool_use_id: use!.id, is_error: false, is_interrupted: false });
    expect((await fleet.payloads(id, 'agent.message'))[1]!.content).toEqual([{ type: 'text', text: 'Done: bash ran' }]);
  });
});

it('[R3] a session is created idle, or running with its first events, which are in its log by then', async () => {
  const fleet = await openFleet();
  const create = { workspaceId: 'wrkspc_1', agent: solo, environment: { id: 'env_1', type: 'cloud' as const } };
  const resting = await fleet.sessions.create(create);
  expect(resting).toMatchObject({ status: 'idle', archivedAt: null, agentId: 'agent_solo', agentVersion: 1 });
  expect(await fleet.types(resting.id)).toEqual(['session.created']);
  expect(await fleet.sessions.create({ ...create, events: [] })).toMatchObject({ status: 'idle' });
  const working = await fleet.sessions.create({ ...create, events: [message({ turns: [[{ sleep_ms: 60_000 }]] })] });
  expect(working.status).toBe('running');
  expect(await fleet.types(working.id)).toContain('user.message');
  const { items: threads } = await fleet.store.threads.list({ sessionId: resting.id, limit: 10 });
  expect(threads).toMatchObject([{ parentThreadId: null, status: 'idle' }]);
});

it('[R4] sent events have ids, are returned in order, and keep these ids in the log', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, says('one'));
  const { seq } = await fleet.rest(id);
  const sent = await fleet.send(id, message('two'), message('three'));
  expect(sent.map(({ event }) => event)).toEqual([message('two'), message('three')]);
  for (const each of sent) expect(each).toMatchObject({ id: expect.stringMatching(/^sevt_/), threadId: null });
  await fleet.rest(id, seq);
  const received = (await fleet.payloads(id, 'user.message')).slice(1);
  expect(received.map(({ id: event }) => event)).toEqual(sent.map(({ id: event }) => event));
  expect(await fleet.payloads(id, 'turn.started')).toHaveLength(2);
});

it('[R5] a run goes from an input until all threads are idle; its first turn is number 0 at depth 0, the next run counts from 0 again', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, says('one'));
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message('two'));
  await fleet.rest(id, seq);
  const turns = (await fleet.frames(id)).filter(({ type }) => type === 'turn.started').map(({ turn }) => turn!);
  expect(turns).toMatchObject([
    { streamId: 0, depth: 0 },
    { streamId: 0, depth: 0 },
  ]);
  expect(turns[0]!.run).not.toBe(turns[1]!.run);
  const [first, second] = await fleet.payloads(id, 'run.started');
  expect(first).toMatchObject({ agent_name: 'solo', message: says('one') });
  expect(second).toMatchObject({ agent_name: 'solo', message: 'two' });
});

it('[R6] a turn keeps the history of the ones before, thoughts included, in the words of the Messages API', async () => {
  const fleet = await openFleet({ tools: bash });
  const turns = [
    [{ think: 'Hm.' }, { say: 'First.' }],
    [{ expect: { contains: 'Again' } }, { call: 'bash' }],
    [{ say: 'End.' }],
  ];
  const id = await fleet.begin(solo, { turns });
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message('Again'));
  await fleet.rest(id, seq);
  const state = await fleet.state(id);
  const { history } = state.threads.get(state.created.primary_thread_id)!;
  expect(history.map(({ role, content }) => `${role} ${content.map(({ type }) => type).join(' ')}`)).toEqual([
    'user text',
    'assistant thinking text',
    'user text',
    'assistant tool_use',
    'user tool_result',
    'assistant text',
  ]);
});

it('[R7] an agent works with its own model, system prompt and tools', async () => {
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    return {};
  });
  const fleet = await openFleet({ engine, tools: { ...bash, off: { kind: 'builtin', isEnabled: false } } });
  const model = { id: 'plain', effort: { type: 'low' as const }, speed: 'fast' as const };
  const id = await fleet.begin({ ...snapshot('special', { system: 'Be brief.', model }), multiagent: null }, 'Hello');
  await fleet.rest(id);
  expect(seen).toMatchObject([
    {
      model: { id: 'plain', effort: 'low', speed: 'fast' },
      system: 'Be brief.',
      tools: [{ name: 'bash' }],
      thread: { agentName: 'special' },
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    },
  ]);
});

it('[R8] a pause of the model is not the end: it is requested again with its own text, and its calls are run first', async () => {
  const fleet = await openFleet({ tools: bash });
  const plain = await fleet.begin(solo, { turns: [[{ say: 'Wait' }, { stop: 'pause_turn' }], [{ say: 'done' }]] });
  await fleet.rest(plain);
  expect(await fleet.payloads(plain, 'span.model_request_end')).toMatchObject([{ stop_reason: 'pause_turn' }, {}]);
  expect(await fleet.payloads(plain, 'turn.ended')).toMatchObject([{ ok: true, stop_reason: 'end_turn' }]);
  const turns = [
    [{ call: 'bash' }, { stop: 'pause_turn' }],
    [{ expect: { tool_result: 'bash ran' } }, { say: 'done' }],
  ];
  const calling = await fleet.begin(solo, { turns });
  await fleet.rest(calling);
  expect(await fleet.payloads(calling, 'turn.ended')).toMatchObject([{ ok: true, stop_reason: 'end_turn' }]);
});

it('[R9] an answer that was cut at its longest length ends the turn as a limit, which is not ok', async () => {
  const fleet = await openFleet();
  const id = await fleet.begin(solo, { turns: [[{ say: 'Once upon' }, { stop: 'max_tokens' }]] });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: false, stop_reason: 'limit' }]);
  expect(await fleet.payloads(id, 'run.ended')).toMatchObject([
    { ok: false, stop_reason: 'limit', content: 'Once upon' },
  ]);
  expect(await fleet.payloads(id, 'session.status_idle')).toMatchObject([{ stop_reason: { type: 'end_turn' } }]);
});

it('[R10] a refusal is logged with its details, voids the calls of its response, and the next message begins a turn', async () => {
  const fleet = await openFleet({ tools: bash });
  const id = await fleet.begin(solo, {
    turns: [[{ say: 'No.' }, { call: 'bash' }, { stop: 'refusal' }], [{ say: 'Yes.' }]],
  });
  const { seq } = await fleet.rest(id);
  expect(await fleet.types(id)).not.toContain('agent.tool_use');
  const stopped = { stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal' } };
  expect(await fleet.payloads(id, 'session.thread_status_idle')).toMatchObject([stopped]);
  expect(await fleet.payloads(id, 'session.status_idle')).toMatchObject([stopped]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: false, stop_reason: 'refusal' }]);
  await fleet.send(id, message('Please'));
  await fleet.rest(id, seq);
  expect((await fleet.payloads(id, 'session.status_idle'))[1]).toMatchObject({
    stop_reason: { type: 'end_turn' },
    stop_details: null,
  });
});

it('[R220] a turn that the model refused is removed from the history, so that the next one is not refused too', async () => {
  const received: string[][] = [];
  const answers: PlainAnswer[] = [
    { content: [{ type: 'text', text: 'Fine.' }] },
    { content: [{ type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} }], reason: 'tool_use' },
    { content: [{ type: 'text', text: 'I had better' }], reason: 'refusal' },
    { content: [{ type: 'text', text: 'Gladly.' }] },
  ];
  const engine = createPlainEngine(({ messages }) => {
    received.push(messages.map(({ role, content }) => `${role} ${content.map((block) => textOf(block)).join()}`));
    return answers.shift()!;
  });
  const fleet = await openFleet({ engine, tools: bash });
  const id = await fleet.begin(solo, 'First');
  const { seq } = await fleet.rest(id);
  await fleet.send(id, message('Something bad'));
  const { seq: refused } = await fleet.rest(id, seq);
  await fleet.send(id, message('Something good'));
  await fleet.rest(id, refused);
  const first = ['user First', 'assistant Fine.'];
  expect(received[2]).toEqual([...first, 'user Something bad', 'assistant tool_use', 'user tool_result']);
  expect(received[3]).toEqual([...first, 'user Something good']);
  // The log still has all of it.
  expect(await fleet.payloads(id, 'agent.message')).toHaveLength(3);
});

function textOf(block: { readonly type: string; readonly text?: unknown }): string {
  return typeof block.text === 'string' ? block.text : block.type;
}

it('[R11] the task of a turn is the first characters of its input', async () => {
  const fleet = await openFleet();
  const text = 'x'.repeat(baseLimits.excerptCharsMax);
  const exact = await fleet.begin(solo, text);
  const longer = await fleet.begin(solo, `${text}y`);
  for (const id of [exact, longer]) await fleet.rest(id);
  expect(await fleet.payloads(exact, 'turn.started')).toMatchObject([{ task: text }]);
  expect(await fleet.payloads(longer, 'turn.started')).toMatchObject([{ task: `${text}…` }]);
  expect(await fleet.payloads(longer, 'run.started')).toMatchObject([{ message: `${text}…` }]);
});

it('[R12] a turn has a limited number of model requests', async () => {
  let requests = 0;
  let calls = Number.POSITIVE_INFINITY;
  const engine = createPlainEngine(() => {
    const block = { type: 'tool_use' as const, id: `toolu_${++requests}`, name: 'bash', input: {} };
    return requests > calls ? {} : { content: [block], reason: 'tool_use' };
  });
  const fleet = await openFleet({ tools: bash, engine });
  const circles = await fleet.begin(solo, 'Go in circles.');
  await fleet.rest(circles);
  expect(requests).toBe(sessionLimits.turnRequestsMax);
  expect(await fleet.payloads(circles, 'session.error')).toMatchObject([
    { retry: 'exhausted', error: { type: 'tool_use_limit_reached_error' } },
  ]);
  expect(await fleet.payloads(circles, 'session.status_idle')).toMatchObject([
    { stop_reason: { type: 'retries_exhausted' } },
  ]);
  [requests, calls] = [0, sessionLimits.turnRequestsMax - 1];
  const last = await fleet.begin(solo, 'End just in time.');
  await fleet.rest(last);
  expect(requests).toBe(sessionLimits.turnRequestsMax);
  expect(await fleet.payloads(last, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R13] a call of an unknown or disabled tool is refused at once, with an error result for the model', async () => {
  const fleet = await openFleet({ tools: { off: { kind: 'builtin', isEnabled: false } } });
  const turns = [
    [{ call: 'off' }, { call: 'nothing' }],
    [{ expect: { tool_result: ['off', 'nothing'], is_error: true } }, { say: 'I see.' }],
  ];
  const id = await fleet.begin(solo, { turns });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'agent.tool_use')).toMatchObject([
    { name: 'off', evaluated_permission: 'deny' },
    { name: 'nothing', evaluated_permission: 'deny' },
  ]);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ is_error: true }, { is_error: true }]);
  expect(await fleet.types(id)).not.toContain('tool.started');
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R14] calls of one answer run at the same time, and their results reach the model in the order of the calls', async () => {
  const running = new Set<string>();
  let most = 0;
  const run = async (name: string, ms: number) => {
    running.add(name);
    most = Math.max(most, running.size);
    await new Promise((resolve) => setTimeout(resolve, ms));
    running.delete(name);
    return { content: [{ type: 'text' as const, text: `${name} done` }], isError: false };
  };
  const fleet = await openFleet({
    tools: {
      slow: { kind: 'builtin', run: () => run('slow', 30) },
      quick: { kind: 'mcp', run: () => run('quick', 1) },
    },
  });
  const id = await fleet.begin(solo, { turns: [[{ call: 'slow' }, { call: 'quick' }], [{ say: '{{results}}' }]] });
  await fleet.rest(id);
  expect(most).toBe(2);
  const [said] = await fleet.payloads(id, 'agent.message');
  expect(said!.content[0]!.text).toMatch(/slow done[^]*quick done/);
  const [use] = await fleet.payloads(id, 'agent.mcp_tool_use');
  expect(use).toMatchObject({ mcp_server_name: 'server', name: 'quick', called_as: 'quick' });
  expect(await fleet.payloads(id, 'agent.mcp_tool_result')).toMatchObject([
    { mcp_tool_use_id: use!.id, is_error: false },
  ]);
});

it('[R15] a tool that throws has an error as its result, and the turn continues', async () => {
  const broken = { kind: 'builtin' as const, run: () => Promise.reject(new Error('no disk')) };
  const fleet = await openFleet({ tools: { broken } });
  const turns = [[{ call: 'broken' }], [{ expect: { tool_result: 'no disk', is_error: true } }, { say: 'Pity.' }]];
  const id = await fleet.begin(agent('solo'), script({ turns }));
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});

it('[R16] an unreachable MCP server is one error in the log, and the session works', async () => {
  const problems = [{ type: 'mcp_connection_failed' as const, serverName: 'files', message: 'refused' }];
  const fleet = await openFleet({ problems, tools: bash });
  const id = await fleet.begin(solo, { turns: [[{ call: 'bash' }], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  expect(await fleet.payloads(id, 'session.error')).toMatchObject([
    {
      error: { type: 'mcp_connection_failed_error', mcp_server_name: 'files', message: 'refused' },
      retry: 'retrying',
      retry_at: null,
    },
  ]);
  expect(await fleet.payloads(id, 'turn.ended')).toMatchObject([{ ok: true }]);
});
