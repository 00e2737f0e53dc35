import { expect, it } from 'vitest';
import { agent, textsOf, toolset } from '../../suite/conversation.suite.ts';
import { findDamage } from '../../suite/find-damage.suite.ts';
import { findDisorder } from '../../suite/find-disorder.suite.ts';
import { programLimits } from '../../limits.ts';
import type { ProgramEvent } from '../../program.ts';
import { CodexTranslator, type CodexTranslatorOptions } from './codex-translator.ts';

it('[CX4] lines of a sub-agent that is not known yet are held until an item names it, and none is emitted before', () => {
  const { take, events } = begin();
  take('turn/started', { threadId: 'kid', turn: { id: 'k1' } });
  take('item/completed', { threadId: 'kid', turnId: 'k1', item: message('m1', 'From the kid.') });
  expect(events.filter(({ key }) => key === 'kid')).toEqual([]);
  take('item/started', { threadId: 't', turnId: 'one', item: spawn('inProgress') });
  take('item/completed', { threadId: 't', turnId: 'one', item: spawn('completed') });
  take('turn/completed', { threadId: 'kid', turn: { id: 'k1', status: 'completed' } });
  const own = events.filter(({ key }) => key === 'kid');
  expect(own.map(({ type }) => type)).toEqual([
    'thread_opened',
    'request_started',
    'block_ended',
    'request_ended',
    'thread_ended',
  ]);
  expect(own[0]).toMatchObject({ parentKey: 'main', callId: 'call_1', prompt: 'Go.' });
});

it('[CX4] at most 10,000 lines are held, and a sub-agent of which more were reported says that part of it is missing', () => {
  const missing = (lines: number) => {
    const { take, events } = begin();
    for (let at = 0; at < lines; at++) take('thread/status/changed', { threadId: 'kid', status: {} });
    take('item/completed', { threadId: 't', turnId: 'one', item: spawn('completed') });
    return events.filter(({ type }) => type === 'transcript_missing').length;
  };
  expect(programLimits.codexHeldLinesMax).toBe(10_000);
  expect([missing(10_000), missing(10_001)]).toEqual([0, 1]);
});

it('[CX5] a model request that is sent again voids what grew in it, and is emitted as a retry with its status', () => {
  const { take, events } = begin();
  take('item/started', { threadId: 't', turnId: 'one', item: message('m1', '') });
  take('item/agentMessage/delta', { threadId: 't', turnId: 'one', itemId: 'm1', delta: 'Half' });
  const info = { responseStreamDisconnected: { httpStatusCode: null } };
  const error = {
    message: 'Reconnecting... 1/5',
    codexErrorInfo: info,
    additionalDetails: 'unexpected status 503 Busy',
  };
  take('error', { threadId: 't', turnId: 'one', willRetry: true, error });
  take('item/completed', { threadId: 't', turnId: 'one', item: message('m2', 'Whole.') });
  take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'completed' } });
  expect(events.slice(2).map(({ type }) => type)).toEqual([
    'request_started',
    'block_started',
    'block_delta',
    'request_ended',
    'retry',
    'request_started',
    'block_ended',
    'request_ended',
    'turn_ended',
  ]);
  const ends = events.flatMap((event) => (event.type === 'request_ended' ? [event.isError] : []));
  expect(ends).toEqual([true, false]);
  expect(events.find(({ type }) => type === 'retry')).toMatchObject({ status: 503, retriesMax: 5 });
  expect(textsOf(events)).toEqual(['Whole.']);
});

it('[CX7] equal call ids of two threads and of two turns are distinguished, so that a decision reaches its own call', () => {
  const { take, ask, events, translator, answers } = begin({ tools: [toolset('always_ask')] });
  take('item/completed', { threadId: 't', turnId: 'one', item: spawn('completed') });
  take('turn/started', { threadId: 'kid', turn: { id: 'k1' } });
  for (const [threadId, turnId, id] of [
    ['t', 'one', 7],
    ['kid', 'k1', 8],
  ] as const) {
    take('item/started', { threadId, turnId, item: command('same', 'inProgress') });
    ask(id, 'item/commandExecution/requestApproval', { threadId, turnId, itemId: 'same', command: 'ls' });
  }
  const asked = events.flatMap((event) => (event.type === 'ask' ? [[event.key, event.callId]] : []));
  expect(asked).toEqual([
    ['main', 'same'],
    ['kid', 'same#2'],
  ]);
  translator.give('same#2', { type: 'allow' });
  expect(answers).toEqual([[8, { decision: 'accept' }]]);
  expect(findDisorder(events)).toEqual([]);
});

it('[CX8] a call that the definition allows is accepted at once, one that it does not give is declined with a reason, and neither is asked for', () => {
  for (const [tools, decision, steered] of [
    [[toolset('always_allow')], 'accept', []],
    [[], 'decline', ['This tool is not available to this agent.']],
  ] as const) {
    const { take, ask, events, answers, messages } = begin({ tools });
    take('item/started', { threadId: 't', turnId: 'one', item: command('c1', 'inProgress') });
    ask(0, 'item/commandExecution/requestApproval', { threadId: 't', turnId: 'one', itemId: 'c1', command: 'ls' });
    expect(answers).toEqual([[0, { decision }]]);
    expect(messages).toEqual(steered);
    expect(events.some(({ type }) => type === 'ask')).toBe(false);
  }
});

it('[CX8] in the mode `untrusted` everything is asked for, and in the mode `deny` commands and patches are declined', () => {
  const { take, ask, events, answers, translator } = begin({ tools: [toolset('always_allow')] });
  translator.setMode('untrusted');
  take('item/started', { threadId: 't', turnId: 'one', item: command('c1', 'inProgress') });
  ask(0, 'item/commandExecution/requestApproval', { threadId: 't', turnId: 'one', itemId: 'c1', command: 'ls' });
  expect([answers, events.filter(({ type }) => type === 'ask')]).toMatchObject([[], [{ callId: 'c1' }]]);
  translator.setMode('deny');
  take('item/started', { threadId: 't', turnId: 'one', item: command('c2', 'inProgress') });
  ask(1, 'item/commandExecution/requestApproval', { threadId: 't', turnId: 'one', itemId: 'c2', command: 'ls' });
  expect(answers).toEqual([[1, { decision: 'decline' }]]);
});

it('[CX9] an ask that the program gives up is withdrawn, and one that ends with its turn is too, before the result of its call', () => {
  const { take, ask, events } = begin({ tools: [toolset('always_ask')] });
  for (const [at, itemId] of ['c1', 'c2'].entries()) {
    take('item/started', { threadId: 't', turnId: 'one', item: command(itemId, 'inProgress') });
    ask(at, 'item/commandExecution/requestApproval', { threadId: 't', turnId: 'one', itemId, command: 'ls' });
  }
  take('serverRequest/resolved', { threadId: 't', requestId: 0 });
  take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'interrupted' } });
  // Too late: the ask is over.
  take('serverRequest/resolved', { threadId: 't', requestId: 1 });
  const ends = events.flatMap((event) =>
    event.type === 'ask_withdrawn' || event.type === 'result' ? [`${event.type} ${event.callId}`] : [],
  );
  expect(ends).toEqual(['ask_withdrawn c1', 'ask_withdrawn c2', 'result c1', 'result c2']);
});

it('[CX10] usage is what the total of a thread grew by: replays, repeats and the size of the window count nothing', () => {
  const { take, events } = begin();
  const report = (
    turnId: string,
    input: number,
    output: number,
    last = { input, output },
    totalTokens = input + output,
  ) =>
    take('thread/tokenUsage/updated', {
      threadId: 't',
      turnId,
      tokenUsage: {
        total: { totalTokens, inputTokens: input, cachedInputTokens: 0, outputTokens: output },
        last: { inputTokens: last.input, cachedInputTokens: 0, outputTokens: last.output },
      },
    });
  // A thread that was resumed: its total is from before.
  report('old', 1_000, 100);
  report('one', 1_200, 120, { input: 200, output: 20 });
  report('one', 1_200, 120, { input: 200, output: 20 });
  report('one', 1_200, 120, { input: 0, output: 0 }, 258_400);
  report('one', 1_100, 110);
  report('one', 1_101, 115);
  const used = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage] : []));
  expect(used.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
    [200, 20],
    [1, 5],
  ]);
});

it('[CX10] cached input is not counted as input', () => {
  const { take, events } = begin();
  const total = { inputTokens: 100, cachedInputTokens: 60, cacheWriteInputTokens: 10, outputTokens: 5 };
  take('thread/tokenUsage/updated', { threadId: 't', turnId: 'one', tokenUsage: { total, last: total } });
  expect(events.at(-1)).toMatchObject({
    type: 'request_ended',
    usage: { inputTokens: 30, cacheReadTokens: 60, cacheWrite5mTokens: 10, outputTokens: 5 },
  });
});

it('[CX11] a request whose calls all wait for a client has ended; its usage, which Codex reports later, is part of the next one', () => {
  const { take, ask, events, translator } = begin({ tools: [toolset('always_ask')] });
  for (const [at, itemId] of ['c1', 'c2'].entries()) {
    take('item/started', { threadId: 't', turnId: 'one', item: command(itemId, 'inProgress') });
    ask(at, 'item/commandExecution/requestApproval', { threadId: 't', turnId: 'one', itemId, command: 'ls' });
  }
  const requests = () => events.filter(({ type }) => type.startsWith('request_')).map(({ type }) => type);
  expect(requests()).toEqual(['request_started', 'request_ended']);
  for (const itemId of ['c1', 'c2']) {
    translator.give(itemId, { type: 'allow' });
    take('item/completed', { threadId: 't', turnId: 'one', item: command(itemId, 'completed') });
  }
  const usage = (inputTokens: number, outputTokens: number) => {
    const total = { inputTokens, cachedInputTokens: 0, outputTokens };
    take('thread/tokenUsage/updated', { threadId: 't', turnId: 'one', tokenUsage: { total, last: total } });
  };
  usage(100, 10);
  expect(requests()).toHaveLength(2);
  take('item/completed', { threadId: 't', turnId: 'one', item: message('m1', 'Done.') });
  usage(150, 12);
  take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'completed' } });
  const used = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage.inputTokens] : []));
  expect(used).toEqual([0, 150]);
  expect(findDisorder(events)).toEqual([]);
});

it('[CX12] a turn that ends before Codex has taken up a message says that another one follows, and a refused message is a failed turn', () => {
  const { take, events, translator } = begin();
  const said = translator.say();
  take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'completed' } });
  expect(events.at(-1)).toMatchObject({ type: 'turn_ended', isMoreToCome: true });
  said.joined('two');
  take('turn/started', { threadId: 't', turn: { id: 'two' } });
  take('turn/completed', { threadId: 't', turn: { id: 'two', status: 'completed' } });
  expect(events.at(-1)).toMatchObject({ type: 'turn_ended', isMoreToCome: false, message: 'two' });
  expect(translator.say().refused('too long')).toMatchObject([
    { type: 'turn_started' },
    { type: 'turn_ended', outcome: { type: 'failed', message: 'too long' } },
  ]);
});

it('[CX13] a command that a finished turn leaves running is work in the background until it ends', () => {
  const { take, events } = begin();
  take('item/started', { threadId: 't', turnId: 'one', item: command('c1', 'inProgress') });
  take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'completed' } });
  expect(events.slice(-4)).toMatchObject([
    { type: 'result', callId: 'c1', isError: false },
    { type: 'work_started', workId: 'c1', kind: 'command' },
    { type: 'request_ended' },
    { type: 'turn_ended' },
  ]);
  take('item/completed', { threadId: 't', turnId: 'one', item: command('c1', 'failed') });
  expect(events.at(-1)).toEqual({ key: 'main', type: 'work_ended', workId: 'c1', outcome: 'failed' });
});

it('[CX14] the reason of a failed turn comes from its HTTP status, the name of its error, or its words', () => {
  const info = (name: string, status?: number) =>
    status === undefined ? name : { [name]: { httpStatusCode: status } };
  const cases: readonly [info: unknown, message: string, outcome: object][] = [
    [info('httpConnectionFailed', 401), 'no key', { type: 'failed', reason: 'authentication' }],
    [info('httpConnectionFailed', 402), 'pay', { type: 'failed', reason: 'billing' }],
    [info('responseTooManyFailedAttempts', 429), 'slow down', { type: 'failed', reason: 'rate_limited' }],
    [info('serverOverloaded'), 'at capacity', { type: 'failed', reason: 'overloaded' }],
    [info('contextWindowExceeded'), 'no room', { type: 'failed', reason: 'request_failed' }],
    [info('usageLimitExceeded'), 'Quota exceeded', { type: 'limit' }],
    [info('cyberPolicy'), 'not this', { type: 'refused' }],
    [
      info('other'),
      '{"error":{"message":"bad input"}}',
      { type: 'failed', reason: 'request_failed', message: 'bad input' },
    ],
    [info('other'), 'stream disconnected before completion', { type: 'failed', reason: 'unknown' }],
    // A name that this version does not know.
    [{ somethingNew: {} }, 'new', { type: 'failed', reason: 'unknown' }],
    [null, 'none', { type: 'failed' }],
  ];
  for (const [codexErrorInfo, words, outcome] of cases) {
    const { take, events } = begin();
    const error = { message: words, codexErrorInfo };
    take('turn/completed', { threadId: 't', turn: { id: 'one', status: 'failed', error } });
    expect([words, events.at(-1)]).toMatchObject([words, { type: 'turn_ended', outcome }]);
  }
});

it('[CX16] an MCP server that cannot be started is reported once, with the reason, and as a login where that is missing', () => {
  const { take, events } = begin();
  const fail = (name: string, error: string) =>
    take('mcpServer/startupStatus/updated', { threadId: 't', name, status: 'failed', error });
  take('mcpServer/startupStatus/updated', { threadId: 't', name: 'docs', status: 'starting', error: null });
  fail('docs', 'No such file');
  fail('docs', 'No such file');
  fail('desk', 'HTTP 401 Unauthorized');
  expect(events.filter(({ type }) => type === 'server_failed')).toEqual([
    { key: 'main', type: 'server_failed', serverName: 'docs', isLogin: false, reason: 'No such file' },
    { key: 'main', type: 'server_failed', serverName: 'desk', isLogin: true, reason: 'HTTP 401 Unauthorized' },
  ]);
});

it('[CX15] items, notifications and requests that this version does not know break nothing, and a request is rejected', () => {
  const { take, ask, events, rejected } = begin();
  take('item/started', {
    threadId: 't',
    turnId: 'one',
    item: { type: 'newTool', id: 'n1', status: 'inProgress', what: 1 },
  });
  take('item/completed', { threadId: 't', turnId: 'one', item: { type: 'newTool', id: 'n1', status: 'completed' } });
  take('item/completed', { threadId: 't', turnId: 'one', item: { type: 'newThing', id: 'n2' } });
  take('thread/somethingNew', { threadId: 't' });
  take('item/completed', { threadId: 't' });
  ask(4, 'item/newKind/request', { threadId: 't', turnId: 'one' });
  ask(5, 'account/newKind', {});
  expect(rejected).toEqual([4, 5]);
  expect(events.flatMap((event) => (event.type === 'call' ? [[event.name, event.input]] : []))).toEqual([
    ['newTool', { what: 1 }],
  ]);
});

it('[MX211] a turn without a reported end or beginning, and an ask that is not over when its turn ends, leave nothing open', () => {
  const { take, ask, events, translator } = begin({ tools: [toolset('always_ask')] });
  ask(1, 'item/permissions/requestApproval', { threadId: 't', turnId: 'one', itemId: 'p1', permissions: {}, cwd: '/' });
  ask(2, 'item/permissions/requestApproval', { threadId: 't', turnId: 'one', itemId: 'p2', permissions: {}, cwd: '/' });
  events.push(...translator.give('p2', { type: 'allow' }));
  // The end of the first turn, and the beginning of the third, are lost.
  take('turn/started', { threadId: 't', turn: { id: 'two' } });
  take('turn/started', { threadId: 't', turn: { id: 'two' } });
  take('turn/completed', { threadId: 't', turn: { id: 'three', status: 'completed' } });
  take('turn/completed', { threadId: 't', turn: { id: 'three', status: 'completed' } });
  take('serverRequest/resolved', { threadId: 't', requestId: 2 });
  const shown = events.filter(({ type }) => /^(turn_|result|ask_withdrawn)/.test(type));
  expect(shown.map((event) => ('callId' in event ? `${event.type} ${event.callId}` : event.type))).toEqual([
    'turn_started',
    'ask_withdrawn p1',
    'result p1',
    'result p2',
    'turn_ended',
    'turn_started',
    'turn_ended',
    'turn_started',
    'turn_ended',
  ]);
  expect(findDamage(events)).toEqual([]);
});

it('[MX211] a total without its numbers counts nothing, and the next one counts what is new', () => {
  const { take, events } = begin();
  const report = (total: object) =>
    take('thread/tokenUsage/updated', { threadId: 't', turnId: 'one', tokenUsage: { total, last: total } });
  report({ inputTokens: 100, outputTokens: 10 });
  report({ inputTokens: 'x', outputTokens: null });
  report({ inputTokens: 130, outputTokens: 12 });
  const used = events.flatMap((event) => (event.type === 'request_ended' ? [event.usage] : []));
  expect(used.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
    [100, 10],
    [30, 2],
  ]);
});

it('[MX200, MX201] a running command shows what it writes, and a plan is a list of tasks', () => {
  const { take, events } = begin();
  const output = (delta: string, itemId = 'c1') =>
    take('item/commandExecution/outputDelta', { threadId: 't', turnId: 'one', itemId, delta });
  output('early\n');
  take('item/started', { threadId: 't', turnId: 'one', item: command('c1', 'inProgress') });
  output('one\n');
  output('of another call\n', 'c2');
  const whole = { ...command('c1', 'completed'), aggregatedOutput: 'one\ntwo\n' };
  take('item/completed', { threadId: 't', turnId: 'one', item: whole });
  output('late\n');
  const steps = [{ step: 'Look', status: 'completed' }, { step: 'Fix', status: 'inProgress' }, { step: 'Test' }, {}];
  take('turn/plan/updated', { threadId: 't', turnId: 'one', explanation: null, plan: steps });
  const shown = events.filter(({ type }) => type === 'output_delta' || type === 'result' || type === 'plan');
  expect(shown).toMatchObject([
    { type: 'output_delta', callId: 'c1', text: 'one\n' },
    { type: 'result', content: [{ text: 'one\ntwo\n' }] },
    {
      items: [
        { text: 'Look', status: 'completed' },
        { text: 'Fix', status: 'in_progress' },
        { text: 'Test', status: 'pending' },
      ],
    },
  ]);
  const many = Array.from({ length: 101 }, () => ({ step: 'x'.repeat(501) }));
  take('turn/plan/updated', { threadId: 't', turnId: 'one', plan: many });
  const last = events.at(-1);
  expect(last?.type === 'plan' ? [last.items.length, last.items[0]?.text.length] : []).toEqual([100, 500]);
});

/** A translator in the first turn of its main thread `t`. */
function begin(changes: Parameters<typeof agent>[0] = {}, options: Partial<CodexTranslatorOptions> = {}) {
  const answers: [id: unknown, result: object][] = [];
  const rejected: unknown[] = [];
  const messages: string[] = [];
  const translator = new CodexTranslator({
    agent: agent(changes),
    members: [],
    known: [],
    answer: (id, result) => void answers.push([id, result]),
    reject: (id) => void rejected.push(id),
    steer: (_threadId, _turnId, message) => void messages.push(message),
    ...options,
  });
  const events: ProgramEvent[] = [...translator.open({ threadId: 't', model: 'gpt-5.5', version: '0.166.0' })];
  const take = (method: string, params: object) =>
    void events.push(...translator.take({ type: 'notification', method, params: { ...params } }));
  const ask = (id: number, method: string, params: object) =>
    void events.push(...translator.take({ type: 'request', id, method, params: { ...params } }));
  take('turn/started', { threadId: 't', turn: { id: 'one' } });
  return { translator, take, ask, events, answers, rejected, messages };
}

function message(id: string, text: string): object {
  return { type: 'agentMessage', id, text };
}

function command(id: string, status: string): object {
  return { type: 'commandExecution', id, command: 'ls', cwd: '/repo', status, aggregatedOutput: null, exitCode: null };
}

function spawn(status: string): object {
  const receiverThreadIds = status === 'completed' ? ['kid'] : [];
  return { type: 'collabAgentToolCall', id: 'call_1', tool: 'spawnAgent', status, prompt: 'Go.', receiverThreadIds };
}
