import { expect, it } from 'vitest';
import type { ResultBlock } from '../../../base/content.ts';
import type { Json, JsonObject } from '../../../base/json/json.ts';
import { sessionLimits } from '../limits.ts';
import type { EngineEvent, ModelRequest } from '../../../engines/model/engine.ts';
import type { SessionFrame } from '../../../frames/frames.ts';
import type { ToolContext } from '../../../tools/tool.ts';
import {
  agent,
  createGate,
  delegates,
  type Fleet,
  hang,
  lead,
  message,
  openFleet,
  result,
  says,
  sends,
  snapshot,
} from '../../suite/fleet.suite.ts';
import { createPlainEngine, type PlainAnswer, someUsage } from '../../suite/plain-engine.suite.ts';
import { onEachStore } from '../../suite/stores.suite.ts';

const bash = { bash: { kind: 'builtin' as const } };

onEachStore((openStore) => {
  it('[R40] a task is delegated at once, and its report wakes the coordinator; the session is not idle in between', async () => {
    const gate = createGate();
    const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
    const fleet = await openFleet({ store: await openStore(), tools: { wait } });
    const task = { turns: [[{ call: 'wait' }], [{ say: 'Report.' }]] };
    const woken = [{ expect: { contains: ['Message from the agent "worker"', 'Report.'] } }, { say: 'Thanks.' }];
    const id = await fleet.begin(lead, { turns: [[{ say: 'Go.' }, sends(task)], [{ say: 'Waiting.' }], woken] });
    await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
    expect((await fleet.state(id)).status).toBe('running');
    gate.open();
    await fleet.rest(id);
    const story = await fleet.story(id);
    expect(story.slice(story.indexOf('lead tool_use'), story.indexOf('worker model_request_start') + 1)).toEqual([
      'lead tool_use',
      'lead model_request_end',
      'lead thread_created',
      'worker turn.started',
      'worker thread_status_running',
      'lead thread_message_sent',
      'worker thread_message_received',
      'lead tool_result',
      'lead model_request_start',
      'worker model_request_start',
    ]);
    expect(story.slice(story.indexOf('worker thread_message_sent'))).toEqual([
      'worker thread_message_sent',
      'lead thread_message_received',
      'worker turn.ended end_turn',
      'worker thread_status_idle end_turn',
      'lead turn.started',
      'lead thread_status_running',
      'lead turn.took',
      'lead model_request_start',
      'lead message',
      'lead model_request_end',
      'lead turn.ended end_turn',
      'lead thread_status_idle end_turn',
      'session run.ended end_turn',
      'session usage',
      'session status_idle end_turn',
    ]);
    expect(story.filter((line) => line.startsWith('session status_'))).toEqual([
      'session status_running',
      'session status_idle end_turn',
    ]);
    expect(await fleet.payloads(id, 'run.ended')).toMatchObject([{ ok: true, content: 'Thanks.' }]);
  });

  it('[R41] a message between threads is logged twice: as sent and as received, each with its own id', async () => {
    const fleet = await openFleet({ store: await openStore() });
    const id = await fleet.begin(lead, { turns: [[delegates(says('Report.'))], [{ say: 'Done.' }]] });
    await fleet.rest(id);
    const { created, threads } = await fleet.state(id);
    const primary = created.primary_thread_id;
    const child = [...threads.keys()][1]!;
    expect(await fleet.payloads(id, 'session.thread_created')).toMatchObject([
      { session_thread_id: child, agent_name: 'worker', member: 0, depth: 1 },
    ]);
    const messages = (await fleet.frames(id)).filter(({ type }) => type.startsWith('agent.thread_message'));
    expect(messages.map(({ type, threadId, payload }) => ({ type, threadId, ...payload }))).toMatchObject([
      { type: 'agent.thread_message_sent', threadId: primary, to_session_thread_id: child, to_agent_name: 'worker' },
      {
        type: 'agent.thread_message_received',
        threadId: child,
        from_session_thread_id: primary,
        from_agent_name: null,
      },
      { type: 'agent.thread_message_sent', threadId: child, to_session_thread_id: primary, to_agent_name: null },
      {
        type: 'agent.thread_message_received',
        threadId: primary,
        from_session_thread_id: child,
        from_agent_name: 'worker',
      },
    ]);
    expect(new Set(messages.map(({ payload }) => (payload as { id: string }).id)).size).toBe(4);
    expect((await fleet.store.threads.get(id, child))!).toMatchObject({ parentThreadId: primary, status: 'idle' });
  });

  it('[R42] delegate waits for all children and returns their reports in the order of the tasks', async () => {
    const gates = [createGate(), createGate(), createGate()];
    let running = 0;
    const started = createGate();
    const wait = {
      kind: 'builtin' as const,
      run: async (input: unknown) => {
        if (++running === 3) started.open();
        await gates[(input as { at: number }).at]!.opened;
        return result('waited');
      },
    };
    const fleet = await openFleet({ store: await openStore(), tools: { wait } });
    const tasks = [0, 1, 2].map((at) => ({ turns: [[{ call: 'wait', input: { at } }], [{ say: `answer ${at}` }]] }));
    const id = await fleet.begin(lead, { turns: [[delegates(...tasks)], [{ say: '{{last_result}}' }]] });
    await started.opened;
    for (const at of [2, 0, 1]) {
      const head = await fleet.head(id);
      gates[at]!.open();
      await fleet.until(id, ({ type }) => type === 'turn.ended', head);
    }
    await fleet.rest(id);
    const [joined] = (await fleet.payloads(id, 'agent.tool_result')).slice(-1);
    expect(textsOf(joined!).map((text) => text.replace(/ \(thread \w+\)/, ''))).toEqual([
      '[1/3] worker:',
      'answer 0',
      '[2/3] worker:',
      'answer 1',
      '[3/3] worker:',
      'answer 2',
    ]);
    const frames = await fleet.frames(id);
    const turns = frames.flatMap((frame) => (frame.type === 'turn.started' ? [frame] : []));
    expect(turns.map(({ turn }) => [turn!.streamId, turn!.depth])).toEqual([
      [0, 0],
      [1, 1],
      [2, 1],
      [3, 1],
    ]);
    expect(turns.map(({ payload: { parent_stream_id, child_index } }) => [parent_stream_id, child_index])).toEqual([
      [null, null],
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
    const lastEnd = Math.max(
      ...frames.filter(({ type, turn }) => type === 'turn.ended' && turn!.depth === 1).map(({ seq }) => seq),
    );
    const results = frames.filter(({ type, turn }) => type === 'agent.tool_result' && turn!.depth === 0);
    expect(results.map(({ seq }) => seq > lastEnd)).toEqual([true]);
    const requests = frames.filter(({ type, turn }) => type === 'span.model_request_start' && turn!.depth === 0);
    expect(requests[1]!.seq).toBeGreaterThan(results[0]!.seq);
  });
});

it('[R43] siblings of one agent are threads of their own, each with only its own task', async () => {
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    const isFirst = request.thread.agentName === 'lead' && request.messages.length === 1;
    const tasks = ['one', 'two'].map((text) => ({ agent: 'worker', message: text }));
    return isFirst
      ? { content: [{ type: 'tool_use', id: 'toolu_1', name: 'delegate', input: { tasks } }], reason: 'tool_use' }
      : {};
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go');
  await fleet.rest(id);
  const received = seen.filter(({ thread }) => thread.agentName === 'worker');
  expect(new Set(received.map(({ thread }) => thread.id)).size).toBe(2);
  expect(received.map(({ messages }) => messages)).toEqual([
    [{ role: 'user', content: [{ type: 'text', text: 'one' }] }],
    [{ role: 'user', content: [{ type: 'text', text: 'two' }] }],
  ]);
});

it('[R44] only a coordinator is offered its tools, and only as deep as the session allows', async () => {
  const offered = new Map<string, string[]>();
  const engine = createPlainEngine(({ thread, tools, messages }) => {
    const isFirst = !offered.has(thread.agentName);
    offered.set(
      thread.agentName,
      tools.map(({ name }) => name),
    );
    const tasks = [{ agent: thread.agentName === 'lead' ? 'middle' : 'bottom', message: 'Go' }];
    const block = { type: 'tool_use' as const, id: `toolu_${messages.length}`, name: 'delegate', input: { tasks } };
    return isFirst && thread.agentName !== 'bottom' ? { content: [block], reason: 'tool_use' } : {};
  });
  const fleet = await openFleet({ engine, tools: { bash: { kind: 'builtin' }, delegate: { kind: 'custom' } } });
  const team = agent('lead', [snapshot('middle'), snapshot('bottom')]);
  const own = ['list_agents', 'send_to_agent', 'delegate'];
  await fleet.rest(await fleet.begin(team, 'Go', { depthMax: 2 }));
  expect([...offered]).toEqual([
    ['lead', [...own, 'bash']],
    ['middle', [...own, 'bash']],
    ['bottom', ['bash', 'delegate']],
  ]);
  offered.clear();
  await fleet.rest(await fleet.begin(team, 'Go'));
  expect([...offered]).toEqual([
    ['lead', [...own, 'bash']],
    ['middle', ['bash', 'delegate']],
  ]);
  offered.clear();
  await fleet.rest(await fleet.begin(agent('bottom'), 'Go'));
  expect([...offered]).toEqual([['bottom', ['bash', 'delegate']]]);
});

it('[R45] an agent at the depth limit that delegates gets an ERR, and no thread begins', async () => {
  const fleet = await openFleet();
  for (const depthMax of [1, 2]) {
    const bottom = {
      turns: [
        [delegates('x'), sends('x')],
        [{ expect: { tool_result: 'ERR:', is_error: true } }, { say: '{{results}}' }],
      ],
    };
    const task = depthMax === 1 ? bottom : { turns: [[delegates(bottom)], [{ say: '{{last_result}}' }]] };
    const id = await fleet.begin(lead, { turns: [[delegates(task)], [{ say: 'Done.' }]] }, { depthMax });
    await fleet.rest(id);
    expect((await fleet.state(id)).threads.size).toBe(1 + depthMax);
    expect(await fleet.payloads(id, 'turn.ended')).toMatchObject(
      Array.from({ length: 1 + depthMax }, () => ({ ok: true })),
    );
    const errors = (await fleet.payloads(id, 'agent.tool_result')).filter(({ is_error: isError }) => isError);
    expect(errors).toHaveLength(2);
    expect(errors[0]!.content).toMatchObject([
      { text: expect.stringMatching(new RegExp(`^ERR: .*depth ${depthMax}`)) },
    ]);
  }
});

it('[R46] an agent that does not exist is an ERR for its own task only', async () => {
  const fleet = await openFleet();
  const tasks = [
    { agent: 'stranger', message: 'x' },
    { agent: 'worker', message: says('Fine.') },
  ];
  const id = await fleet.begin(lead, {
    turns: [[{ call: 'delegate', input: { tasks } }], [{ say: '{{last_result}}' }]],
  });
  await fleet.rest(id);
  const [joined] = await fleet.payloads(id, 'agent.tool_result');
  expect(joined).toMatchObject({ is_error: false });
  expect(textsOf(joined!)).toEqual([
    '[1/2] stranger:',
    'ERR: there is no agent "stranger": choose one of worker',
    expect.stringMatching(/^\[2\/2\] worker \(thread sthr_\w+\):$/),
    'Fine.',
  ]);
  const alone = await fleet.begin(lead, {
    turns: [[{ call: 'send_to_agent', input: { agent: 'stranger', message: 'x' } }], [{ say: 'Oh.' }]],
  });
  await fleet.rest(alone);
  expect(await fleet.payloads(alone, 'agent.tool_result')).toMatchObject([
    { is_error: true, content: [{ text: expect.stringMatching(/^ERR: there is no agent "stranger"/) }] },
  ]);
});

it('[R47] a call of delegate has up to 16 tasks: with more, or with none that can be read, nothing begins', async () => {
  const fleet = await openFleet();
  const most = Array.from({ length: sessionLimits.delegateTasksMax }, (_, at) => ({
    agent: 'worker',
    message: says(`${at}`),
  }));
  const bad = [[...most, most[0]], [], undefined, [{ agent: 'worker' }], [{ agent: 'worker', message: ' ' }], ['x']];
  for (const tasks of bad) {
    const id = await fleet.begin(lead, {
      turns: [[{ call: 'delegate', input: tasks === undefined ? {} : { tasks } }], [{ say: 'Oh.' }]],
    });
    await fleet.rest(id);
    expect((await fleet.state(id)).threads.size).toBe(1);
    const [refused] = await fleet.payloads(id, 'agent.tool_result');
    expect(refused!.is_error).toBe(true);
    expect(textsOf(refused!)).toEqual([
      expect.stringMatching(tasks?.length === 17 ? /^ERR: 17 .* 16 are allowed/ : /^ERR: tasks/),
    ]);
  }
  const id = await fleet.begin(lead, { turns: [[{ call: 'delegate', input: { tasks: most } }], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(17);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ is_error: false }]);
});

function textsOf({ content }: { readonly content: readonly ResultBlock[] }): string[] {
  return content.map((block) => (block.type === 'text' ? block.text : block.type));
}

it('[R48] 25 children may live at a time; the next one is an ERR, and one that was archived makes room', async () => {
  const fleet = await openFleet();
  const tasks = (count: number) => Array.from({ length: count }, () => ({ agent: 'worker', message: says('Fine.') }));
  const call = (count: number) => [{ call: 'delegate', input: { tasks: tasks(count) } }];
  const full = [
    { expect: { tool_result: `${sessionLimits.liveChildrenMax} are allowed`, is_error: true } },
    { say: 'Full.' },
  ];
  const turns = [
    call(16),
    call(9),
    [sends(says('x'))],
    full,
    [sends(says('x'))],
    [{ expect: { is_error: false } }, { say: 'Room.' }],
  ];
  const id = await fleet.begin(lead, { turns });
  const { seq } = await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(26);
  const child = [...(await fleet.state(id)).threads.keys()][3]!;
  await fleet.sessions.archiveThread('wrkspc_1', id, child);
  await fleet.send(id, message('Again'));
  await fleet.rest(id, seq);
  expect((await fleet.state(id)).threads.size).toBe(27);
  const ended = await fleet.payloads(id, 'turn.ended');
  expect(ended.every(({ ok }) => ok)).toBe(true);
});

it('[R49] a delegate call over the thread limit starts no thread', async () => {
  const fleet = await openFleet();
  const tasks = Array.from({ length: 13 }, () => ({ agent: 'worker', message: says('Fine.') }));
  const call = [{ call: 'delegate', input: { tasks } }];
  const id = await fleet.begin(lead, { turns: [call, call, [{ expect: { is_error: true } }, { say: 'Full.' }]] });
  await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(14);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([{ is_error: false }, { is_error: true }]);
});

it('[R50] a follow-up finds the thread with its history, and its report comes as a letter', async () => {
  const fleet = await openFleet();
  const task = {
    turns: [[{ say: 'First.' }], [{ expect: { contains: ['More, please.', 'First.'] } }, { say: 'Second.' }]],
  };
  const id = await fleet.begin(lead, { turns: [[delegates(task)], [{ say: 'Fine.' }], [{ say: '{{last_user}}' }]] });
  const { seq } = await fleet.rest(id);
  const child = [...(await fleet.state(id)).threads.keys()][1]!;
  await expect(followUp(fleet, id, seq, child)).resolves.toMatchObject([
    { is_error: false, content: [{ text: expect.stringContaining('has begun') }] },
  ]);
  const { threads } = await fleet.state(id);
  expect(threads.size).toBe(2);
  expect(threads.get(child)!.history).toHaveLength(4);
});

it('[R223] a turn that begins with a letter that had waited knows the turn that wrote it', async () => {
  const { open, opened } = createGate();
  const engine = createPlainEngine(({ thread, messages }) => {
    if (thread.agentName === 'worker') return afterGate(opened, `Answer ${messages.length}.`);
    const last = JSON.stringify(messages.at(-1));
    const input = { agent: 'worker', message: `Task ${messages.length}.` };
    const child = /in thread (\w+)\./.exec(last)?.[1];
    if (messages.length === 1) return calling('send_to_agent', input);
    if (messages.length === 3) return calling('send_to_agent', { ...input, thread_id: child! });
    // Its own turn ends while the worker still has a letter to read.
    if (messages.length === 5) open();
    return { content: [{ type: 'text', text: 'Sent.' }] };
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go');
  await fleet.rest(id);
  const turns = (await fleet.frames(id)).flatMap((frame) => (frame.type === 'turn.started' ? [frame] : []));
  const worker = turns.filter(({ payload }) => payload.agent_name === 'worker');
  expect(worker.map(({ turn, payload }) => [turn!.depth, payload.parent_stream_id, payload.task])).toEqual([
    [1, 0, 'Task 1.'],
    [1, 0, expect.stringContaining('Message from the coordinator')],
  ]);
  // Reports wake the coordinator, which has no parent.
  const woken = turns.filter(({ payload }) => payload.agent_name === 'lead').slice(1);
  expect(woken.length).toBeGreaterThan(0);
  expect(new Set(woken.map(({ payload }) => payload.parent_stream_id))).toEqual(new Set([null]));
});

function calling(name: string, input: JsonObject): PlainAnswer {
  return { content: [{ type: 'tool_use', id: 'toolu_1', name, input }], reason: 'tool_use' };
}

async function* afterGate(opened: Promise<void>, text: string): AsyncGenerator<EngineEvent> {
  await opened;
  const stop = { reason: 'end_turn' as const, category: null, explanation: null };
  yield { type: 'block_started', index: 0, block: 'text' };
  yield { type: 'delta', index: 0, text };
  yield { type: 'finished', content: [{ type: 'text', text }], stop, usage: someUsage, model: 'plain' };
}

/** Whatever the script of the first message says, the next answer of the plain model calls for a follow-up. */
async function followUp(fleet: Fleet, id: string, seq: number, child: string) {
  await fleet.close();
  const next = await openFleet({ store: fleet.store, engine: followingEngine(child) });
  await next.send(id, message('Ask again.'));
  await next.rest(id, seq);
  const results = (await next.frames(id)).filter((frame) => frame.seq > seq && frame.type === 'agent.tool_result');
  return results.map(({ payload }) => payload);
}

function followingEngine(child: string) {
  return createPlainEngine(({ thread, messages }) => {
    if (thread.agentName === 'worker') {
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      return { content: [{ type: 'text', text: 'Second.' }] };
    }
    const isAsked = JSON.stringify(messages.at(-1)).includes('Ask again.');
    const input = { agent: 'worker', message: 'More, please.', thread_id: child };
    return isAsked
      ? { content: [{ type: 'tool_use', id: 'toolu_again', name: 'send_to_agent', input }], reason: 'tool_use' }
      : {};
  });
}

it('[R51] a message to a running child waits, and is its next turn', async () => {
  const gate = createGate();
  const wait = { kind: 'builtin' as const, run: async () => (await gate.opened, result('waited')) };
  const engine = createPlainEngine(({ thread, messages }) => {
    const results = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result')).length;
    const call = (name: string, input: object) => ({
      content: [{ type: 'tool_use' as const, id: `toolu_${messages.length}`, name, input: input as never }],
      reason: 'tool_use' as const,
    });
    if (thread.agentName === 'worker') {
      return results === 0 ? call('wait', {}) : { content: [{ type: 'text', text: `heard ${messages.length}` }] };
    }
    if (results === 0) return call('send_to_agent', { agent: 'worker', message: 'one' });
    const child = /thread (sthr_\w+)/.exec(JSON.stringify(messages))![1];
    return results === 1 ? call('send_to_agent', { agent: 'worker', message: 'two', thread_id: child }) : {};
  });
  const fleet = await openFleet({ engine, tools: { wait } });
  const id = await fleet.begin(lead, 'Go');
  await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
  gate.open();
  await fleet.rest(id);
  const story = await fleet.story(id);
  expect((await fleet.payloads(id, 'agent.tool_result'))[1]!.content).toMatchObject([
    { text: expect.stringContaining('is at work') },
  ]);
  expect(story.filter((line) => /^worker (turn|thread_message|thread_status)/.test(line))).toEqual([
    'worker turn.started',
    'worker thread_status_running',
    'worker thread_message_received',
    'worker thread_message_received',
    'worker thread_message_sent',
    'worker turn.ended end_turn',
    'worker thread_status_idle end_turn',
    'worker turn.started',
    'worker thread_status_running',
    'worker turn.took',
    'worker thread_message_sent',
    'worker turn.ended end_turn',
    'worker thread_status_idle end_turn',
  ]);
  const [, child] = [...(await fleet.state(id)).threads.values()];
  expect(JSON.stringify(child!.history.at(-2))).toContain('two');
  expect(story.at(-1)).toBe('session status_idle end_turn');
});

it('[R52] a thread that is not yours, or has ended, cannot be gone on with', async () => {
  const call = (id: number, name: string, input: Json) => ({
    content: [{ type: 'tool_use' as const, id: `toolu_${id}`, name, input }],
    reason: 'tool_use' as const,
  });
  const engine = createPlainEngine(({ thread, messages }) => {
    if (thread.agentName === 'worker') throw new Error('it fails for good');
    const results = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result')).length;
    if (results === 0) return call(0, 'delegate', { tasks: [{ agent: 'worker', message: 'x' }] });
    const [, ended = ''] = /\(thread (sthr_\w+)\)/.exec(JSON.stringify(messages)) ?? [];
    const threads = ['sthr_nothing', 17, thread.id, ended];
    const next = threads[results - 1];
    return next === undefined ? {} : call(results, 'send_to_agent', { agent: 'worker', message: 'x', thread_id: next });
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(lead, 'Go');
  await fleet.rest(id);
  const refused = (await fleet.payloads(id, 'agent.tool_result')).slice(1);
  expect(refused.map((each) => [each.is_error, ...textsOf(each)])).toEqual([
    [true, expect.stringMatching(/^ERR: you have no thread "sthr_nothing"/)],
    [true, expect.stringMatching(/^ERR: you have no thread 17/)],
    [true, expect.stringMatching(/^ERR: you have no thread "sthr_/)],
    [true, expect.stringMatching(/^ERR: thread sthr_\w+ has ended/)],
  ]);
});

it('[R53] list_agents names the members with their descriptions, and the threads that work for the caller', async () => {
  const fleet = await openFleet();
  const team = agent('lead', [snapshot('worker'), snapshot('idler')]);
  const id = await fleet.begin(team, {
    turns: [[delegates(says('Fine.'))], [{ call: 'list_agents' }], [{ say: 'Done.' }]],
  });
  await fleet.rest(id);
  const [, listed] = await fleet.payloads(id, 'agent.tool_result');
  const [text] = textsOf(listed!);
  const child = [...(await fleet.state(id)).threads.keys()][1];
  expect(JSON.parse(text!)).toEqual({
    agents: [
      { name: 'worker', description: 'does worker', threads: [{ thread_id: child, status: 'idle' }] },
      { name: 'idler', description: 'does idler', threads: [] },
    ],
  });
});

it('[R54] a copy of the coordinator is what the coordinator is now, and cannot delegate', async () => {
  const seen: ModelRequest[] = [];
  const engine = createPlainEngine((request) => {
    seen.push(request);
    const isFirst = seen.length === 1;
    const tasks = [{ agent: 'lead', message: 'Go' }];
    return isFirst
      ? { content: [{ type: 'tool_use', id: 'toolu_1', name: 'delegate', input: { tasks } }], reason: 'tool_use' }
      : {};
  });
  const fleet = await openFleet({ engine });
  const overridden = { ...agent('lead', [snapshot('lead'), snapshot('worker')]), system: 'Overridden.' };
  const id = await fleet.begin(overridden, 'Go');
  await fleet.rest(id);
  expect(seen.map(({ system, tools }) => [system, tools.length])).toEqual([
    ['Overridden.', 3],
    ['Overridden.', 0],
    ['Overridden.', 3],
  ]);
  expect(await fleet.payloads(id, 'session.thread_created')).toMatchObject([{ agent_name: 'lead', member: null }]);
});

it('[R55] children work at the same time, and start before any of them has answered', async () => {
  let running = 0;
  const all = createGate();
  const meet = {
    kind: 'builtin' as const,
    run: async () => (++running === 16 && all.open(), await all.opened, result('met')),
  };
  const fleet = await openFleet({ tools: { meet } });
  const tasks = Array.from({ length: 16 }, () => ({ turns: [[{ call: 'meet' }], [{ say: 'Fine.' }]] }));
  const id = await fleet.begin(lead, { turns: [[delegates(...tasks)], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  expect(running).toBe(16);
  const frames = await fleet.frames(id);
  const opened = frames
    .filter(isChildRequest)
    .slice(0, 16)
    .map(({ seq }) => seq);
  const answered = frames.find(({ type, turn }) => type === 'span.model_request_end' && turn!.depth === 1)!;
  expect(Math.max(...opened)).toBeLessThan(answered.seq);
});

function isChildRequest({ type, turn }: SessionFrame): boolean {
  return type === 'span.model_request_start' && turn?.depth === 1;
}

it('[R56] two calls of delegate in one turn both run, also with the same tasks', async () => {
  const fleet = await openFleet();
  const same = delegates(says('Fine.'), says('Fine.'));
  const id = await fleet.begin(lead, { turns: [[same, same], [same], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  expect((await fleet.state(id)).threads.size).toBe(7);
  expect(await fleet.payloads(id, 'agent.tool_result')).toMatchObject([
    { is_error: false },
    { is_error: false },
    { is_error: false },
  ]);
});

it('[R57] a child that ends without text, refuses or is truncated states that in its report', async () => {
  const fleet = await openFleet();
  const silent = { turns: [[]] };
  const refusing = { turns: [[{ say: 'Half' }, { stop: 'refusal' }]] };
  const cut = { turns: [[{ say: 'Half' }, { stop: 'max_tokens' }]] };
  const id = await fleet.begin(lead, { turns: [[delegates(silent, refusing, cut)], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  const [joined] = await fleet.payloads(id, 'agent.tool_result');
  expect(joined!.content.filter((_, at) => at % 2 === 1)).toEqual([
    { type: 'text', text: 'worker ended without saying anything.' },
    { type: 'text', text: 'ERR: worker did not finish: the model refused\n\nHalf' },
    { type: 'text', text: 'ERR: worker did not finish: the answer was cut at its longest length\n\nHalf' },
  ]);
  expect(joined!.is_error).toBe(false);
});

it('[R58] one child waits for approval while another runs: the session runs, and the child is idle', async () => {
  const fleet = await openFleet({ tools: { ...bash, ask: { kind: 'builtin', permission: 'ask' } } });
  const id = await fleet.begin(lead, {
    turns: [[delegates({ turns: [[{ call: 'ask' }], [{ say: 'x' }]] }, { turns: [[hang]] })], [{ say: 'Done.' }]],
  });
  await fleet.until(id, ({ type }) => type === 'session.thread_status_idle');
  const { status, threads } = await fleet.state(id);
  expect(status).toBe('running');
  expect([...threads.values()].map((thread) => thread.status)).toEqual(['running', 'idle', 'running']);
});

it('[R59] all agents of a session work in the same directory, each with a thread of its own', async () => {
  const contexts: ToolContext[] = [];
  const run = (_: unknown, __: AbortSignal, context: ToolContext) => (contexts.push(context), result('noted'));
  const fleet = await openFleet({ tools: { note: { kind: 'builtin', run } } });
  const task = { turns: [[{ call: 'note' }], [{ say: 'Fine.' }]] };
  const id = await fleet.begin(lead, { turns: [[{ call: 'note' }, delegates(task)], [{ say: 'Done.' }]] });
  await fleet.rest(id);
  const { threads } = await fleet.state(id);
  expect(contexts.map(({ threadId }) => threadId)).toEqual([...threads.keys()]);
  expect(new Set(await Promise.all(contexts.map(({ openWorkspace }) => openWorkspace()))).size).toBe(1);
  expect(contexts.every(({ sessionId }) => sessionId === id)).toBe(true);
});

it('[R43] the same agent called by two others is two threads, that know nothing of each other', async () => {
  const received: string[] = [];
  const engine = createPlainEngine(({ thread, messages }) => {
    const isFirst = messages.length === 1;
    const call = (agent: string, ...texts: string[]) => {
      const input = { tasks: texts.map((message) => ({ agent, message })) };
      return {
        content: [{ type: 'tool_use' as const, id: 'toolu_1', name: 'delegate', input }],
        reason: 'tool_use' as const,
      };
    };
    if (thread.agentName === 'bottom') received.push(JSON.stringify(messages.map(({ content }) => content)));
    if (!isFirst || thread.agentName === 'bottom') return {};
    const [task] = messages[0]!.content;
    return thread.agentName === 'lead'
      ? call('middle', 'one', 'two')
      : call('bottom', task?.type === 'text' ? task.text : '');
  });
  const fleet = await openFleet({ engine });
  const id = await fleet.begin(agent('lead', [snapshot('middle'), snapshot('bottom')]), 'Go', { depthMax: 2 });
  await fleet.rest(id);
  expect(received).toEqual(['one', 'two'].map((text) => JSON.stringify([[{ type: 'text', text }]])));
});
