import { expect, it } from 'vitest';
import { programLimits } from '../limits.ts';
import { agent, textsOf, toolset } from '../suite/conversation.suite.ts';
import { findDisorder } from '../suite/find-disorder.suite.ts';
import { converseInTest } from './agent-double.suite.ts';

const asking = { agent: agent({ tools: [toolset('always_ask')] }) };
const chunk = (text: string, messageId?: string) => ({
  sessionUpdate: 'agent_message_chunk',
  content: { type: 'text', text },
  ...(messageId === undefined ? {} : { messageId }),
});
const call = (toolCallId: string, fields: object = {}) => ({
  sessionUpdate: 'tool_call',
  toolCallId,
  kind: 'execute',
  status: 'in_progress',
  rawInput: { command: 'ls' },
  ...fields,
});
const done = (toolCallId: string, status = 'completed') => ({ sessionUpdate: 'tool_call_update', toolCallId, status });
const endTurn = { result: { stopReason: 'end_turn', usage: { inputTokens: 10, outputTokens: 3, totalTokens: 13 } } };

it('[AC2] a conversation is opened with version 1 of the protocol; an agent with another version, or one that refuses, is an end with its reason', () => {
  const talk = converseInTest();
  talk.open();
  expect(talk.written).toMatchObject([
    { method: 'initialize', params: { protocolVersion: 1, clientCapabilities: { terminal: false } } },
    { method: 'session/new', params: { cwd: '/repo', mcpServers: [] } },
  ]);
  expect(talk.events).toEqual([{ key: 'main', type: 'opened', conversation: 's1', version: '3.2.1' }]);

  const newer = converseInTest();
  newer.reply('initialize', { result: { protocolVersion: 2 } });
  const locked = converseInTest();
  const authMethods = [{ id: 'login', name: 'Log in with your browser' }];
  locked.reply('initialize', { result: { protocolVersion: 1, authMethods } });
  locked.reply('session/new', { error: { code: -32_000, message: 'Authentication required' } });
  expect([...newer.failures, ...locked.failures]).toEqual([
    'it speaks version 2 of ACP, and version 1 is needed',
    'it cannot open the conversation: Authentication required (it offers: Log in with your browser)',
  ]);
});

it('[AC4, AC11] text is a block until another message, a call or the end; model requests are inferred, and the last has the usage of the turn', () => {
  const talk = converseInTest();
  talk.open();
  talk.say('Go.');
  for (const update of [chunk('One ', 'a'), chunk('two.', 'a'), chunk('Three.', 'b')]) talk.update(update);
  for (const update of [call('c1'), done('c1'), chunk('Four.')]) talk.update(update);
  talk.update(chunk('of another conversation'), 's2');
  talk.reply('session/prompt', endTurn);
  // Behind the end of its turn an update is not part of any.
  talk.update(chunk('late'));
  expect(textsOf(talk.events)).toEqual(['One two.', 'Three.', 'Four.']);
  expect(findDisorder(talk.events)).toEqual([]);
  const ends = talk.events.flatMap((event) => (event.type === 'request_ended' ? [event.usage] : []));
  expect(ends.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens])).toEqual([
    [0, 0],
    [10, 3],
  ]);
  expect(talk.events.at(-1)).toMatchObject({ type: 'turn_ended', outcome: { type: 'done' }, isMoreToCome: false });
});

it('[AC5] a call is announced when its input is known, has its output as the result, and an id of its own; one without an end is stopped with the turn', () => {
  const talk = converseInTest();
  talk.open();
  talk.say('Go.');
  talk.update(call('c1', { status: 'pending', rawInput: {}, title: 'bash' }));
  expect(talk.events.filter(({ type }) => type === 'call')).toEqual([]);
  talk.update({ ...done('c1', 'in_progress'), rawInput: { command: 'make' } });
  const delta = { _meta: { terminal_output_delta: { data: 'made\n' } } };
  talk.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', ...delta });
  talk.update(done('c1'));
  // An update of a call that has ended, and a second call with the same id.
  talk.update(done('c1', 'failed'));
  talk.update(call('c1', { kind: 'other', title: 'Ponder', rawInput: null }));
  talk.reply('session/prompt', endTurn);
  const shown = talk.events.filter(({ type }) => type === 'call' || type === 'result');
  expect(shown).toMatchObject([
    { type: 'call', callId: 'c1', name: 'bash', input: { command: 'make' } },
    { type: 'result', callId: 'c1', content: [{ text: 'made\n' }], isError: false },
    { type: 'call', callId: 'c1#2', name: 'Ponder', input: { title: 'Ponder' } },
    { type: 'result', callId: 'c1#2', content: [{ text: 'The call was stopped.' }], isError: true },
  ]);
});

it('[MX200, MX201] output of a terminal of the agent, and its plan, are events', () => {
  const talk = converseInTest();
  talk.open();
  talk.say('Go.');
  const show = (data: string) =>
    talk.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', _meta: { terminal_output_delta: { data } } });
  talk.update(call('c1'));
  show('one\n');
  show('two\n');
  talk.update(done('c1'));
  show('late\n');
  talk.update({ sessionUpdate: 'plan', entries: [{ content: 'Look', priority: 'high', status: 'completed' }] });
  const shown = talk.events.filter(({ type }) => type === 'output_delta' || type === 'result' || type === 'plan');
  expect(shown).toMatchObject([
    { type: 'output_delta', callId: 'c1', text: 'one\n' },
    { type: 'output_delta', callId: 'c1', text: 'two\n' },
    { type: 'result', content: [{ text: 'one\ntwo\n' }] },
    { type: 'plan', items: [{ text: 'Look', status: 'completed' }] },
  ]);
});

it('[AC6] a permission request is an approval, answered once with the narrowest option; what the definition allows or denies is answered without a person', () => {
  const talk = converseInTest(asking);
  talk.open();
  talk.say('Go.');
  talk.ask(0, call('c1', { sessionUpdate: undefined }));
  talk.ask(1, call('c1', { sessionUpdate: undefined }));
  expect(talk.events.slice(-3)).toMatchObject([
    { type: 'call', callId: 'c1', tool: { kind: 'builtin', permission: 'ask' } },
    { type: 'request_ended', isError: false },
    { type: 'ask', callId: 'c1', input: { command: 'ls' } },
  ]);
  talk.conversation.answer('c1', { type: 'allow' });
  talk.conversation.answer('c1', { type: 'deny', message: 'Too late.' });
  for (const id of [0, 1]) expect(talk.outcomeOf(id)).toEqual({ outcome: 'selected', optionId: 'once' });
  expect(findDisorder(talk.events)).toEqual([]);

  const free = converseInTest();
  const none = converseInTest({ agent: agent({ tools: [] }) });
  for (const [each, optionId] of [
    [free, 'once'],
    [none, 'no'],
  ] as const) {
    each.open();
    each.say('Go.');
    each.ask(0, call('c1'));
    expect(each.outcomeOf(0)).toEqual({ outcome: 'selected', optionId });
    expect(each.events.filter(({ type }) => type === 'ask')).toEqual([]);
  }
  // Not in a turn, and a method that no client of ACP has to offer.
  free.reply('session/prompt', endTurn);
  free.ask(7, call('c2'));
  expect(free.outcomeOf(7)).toEqual({ outcome: 'cancelled' });
  free.conversation.take({ id: 8, method: 'fs/read_text_file', params: {} });
  expect(free.written.at(-1)).toMatchObject({ id: 8, error: { code: -32_601 } });
});

it('[AC7] the model reads the reason of a denial: at once where the agent ends its turn with it, otherwise with the next message', () => {
  const talk = converseInTest(asking);
  talk.open();
  talk.say('Go.');
  talk.ask(0, call('c1'));
  talk.conversation.answer('c1', { type: 'deny', message: 'Not here.' });
  talk.update(done('c1', 'failed'));
  talk.reply('session/prompt', { result: { stopReason: 'cancelled' } });
  expect(talk.promptsOf()).toEqual([['Go.'], ['A call was denied: Not here.', 'Continue without the denied call.']]);
  talk.update(chunk('Without it.'));
  talk.ask(1, call('c2'));
  talk.conversation.answer('c2', { type: 'deny', message: 'Nor here.' });
  talk.update(chunk('I go on.'));
  talk.reply('session/prompt', endTurn);
  talk.say('Next.');
  expect(talk.promptsOf().slice(2)).toEqual([['A call was denied: Nor here.', 'Next.']]);
  const turns = talk.events.filter(({ type }) => type === 'turn_started' || type === 'turn_ended');
  expect(turns.map(({ type }) => type)).toEqual(['turn_started', 'turn_ended', 'turn_started']);
  const results = talk.events.flatMap((event) => (event.type === 'result' ? [event.content] : []));
  expect(results).toEqual([[{ type: 'text', text: 'Not here.' }], [{ type: 'text', text: 'Nor here.' }]]);
});

it('[AC8, AC13] a message during a turn waits for its end; an interrupt cancels the turn and its requests, and what waited is sent with the next message', () => {
  const talk = converseInTest(asking);
  talk.say('Go.');
  talk.open();
  talk.say('And this.');
  talk.reply('session/prompt', endTurn);
  expect(talk.promptsOf()).toEqual([['Go.'], ['And this.']]);
  expect(talk.events.filter(({ type }) => type === 'turn_ended')).toMatchObject([{ isMoreToCome: true }]);
  talk.ask(0, call('c1'));
  talk.say('More.');
  talk.conversation.interrupt();
  talk.conversation.interrupt();
  expect(talk.outcomeOf(0)).toEqual({ outcome: 'cancelled' });
  expect(talk.written.filter(({ method }) => method === 'session/cancel')).toHaveLength(1);
  expect(talk.events.at(-1)).toEqual({ key: 'main', type: 'ask_withdrawn', callId: 'c1' });
  talk.reply('session/prompt', endTurn);
  expect(talk.events.at(-1)).toMatchObject({ type: 'turn_ended', outcome: { type: 'stopped' }, isMoreToCome: false });
  talk.say('Now.');
  expect(talk.promptsOf().at(-1)).toEqual(['More.', 'Now.']);

  // Before the conversation is open the interrupt stops the turn that begins with it.
  const early = converseInTest();
  early.say('Go.');
  early.conversation.interrupt();
  early.open();
  expect(early.written.map(({ method }) => method).slice(-2)).toEqual(['session/prompt', 'session/cancel']);
});

it('[AC9] a conversation is continued with session/load, whose history is not emitted; an agent without it is an end with its reason', () => {
  const talk = converseInTest({ resume: 's1', agent: agent({ system: 'You lead.' }) });
  talk.reply('initialize', { result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  talk.update(chunk('From before.'));
  talk.reply('session/load', { result: {} });
  talk.say('Go.');
  expect(textsOf(talk.events)).toEqual([]);
  // The system prompt was in the first message of the conversation.
  expect(talk.promptsOf()).toEqual([['Go.']]);
  const without = converseInTest({ resume: 's1' });
  without.open({});
  expect(without.failures).toEqual(['it cannot continue the conversation: the agent does not offer session/load']);
});

it('[AC10] the answer to a prompt decides how its turn ended; a failure that an agent reports as text is one', () => {
  const outcomeOf = (answer: object, isFailing = false) => {
    const talk = converseInTest();
    talk.open();
    talk.say('Go.');
    if (isFailing) {
      talk.update({
        sessionUpdate: 'session_info_update',
        _meta: { codex: { threadStatus: { type: 'systemError' } } },
      });
      talk.update(chunk('bad input\n'));
    }
    talk.reply('session/prompt', answer);
    const end = talk.events.at(-1);
    return end?.type === 'turn_ended' ? end.outcome : undefined;
  };
  const stops = ['end_turn', 'cancelled', 'refusal', 'max_tokens', 'max_turn_requests', 'unknown'];
  expect(stops.map((stopReason) => outcomeOf({ result: { stopReason } })?.type)).toEqual([
    'done',
    'stopped',
    'refused',
    'failed',
    'limit',
    'done',
  ]);
  const failed = { type: 'failed', reason: 'unknown', message: 'bad input' };
  expect(outcomeOf({ error: { code: -32_603, message: 'bad input' } })).toEqual(failed);
  expect(outcomeOf(endTurn, true)).toEqual(failed);
});

it('[AC12] the model of the definition is chosen before the first prompt, as an option or in the list of models; one that the agent refuses is an end with its reason', () => {
  const option = { configOptions: [{ id: 'model', category: 'model', currentValue: 'small' }] };
  const listed = { models: { currentModelId: 'small', availableModels: [] } };
  for (const [offered, method, params] of [
    [option, 'session/set_config_option', { sessionId: 's1', configId: 'model', value: 'large' }],
    [listed, 'session/set_model', { sessionId: 's1', modelId: 'large' }],
  ] as const) {
    const talk = converseInTest({ model: 'large' });
    talk.say('Go.');
    talk.open({}, offered);
    expect(talk.written.at(-1)).toMatchObject({ method, params });
    talk.reply(method, { result: {} });
    talk.update(chunk('Hello.'));
    expect(talk.events.find(({ type }) => type === 'request_started')).toMatchObject({ model: 'large' });
  }
  const refused = converseInTest({ model: 'large' });
  refused.open({}, option);
  refused.reply('session/set_config_option', { error: { message: 'unknown model' } });
  const without = converseInTest({ model: 'large' });
  without.open();
  expect([...refused.failures, ...without.failures]).toEqual([
    'it cannot use the model large: unknown model',
    'it cannot use the model large: the agent offers no choice of models',
  ]);
});

it('[AC14] calls at a time, the length of a block and of output, and the nesting of inputs are limited', () => {
  const talk = converseInTest();
  talk.open();
  talk.say('Go.');
  const { acpCallsMax, acpBlockCharsMax, acpOutputCharsMax, acpNestingMax } = programLimits;
  const whole = 'x'.repeat(acpBlockCharsMax);
  for (const text of [whole.slice(1), 'x', 'y']) talk.update(chunk(text, 'a'));
  const nested = (levels: number) => JSON.parse('[1]'.replace('1', '['.repeat(levels - 2) + ']'.repeat(levels - 2)));
  talk.update(call('shallow', { rawInput: { at: nested(acpNestingMax) } }));
  talk.update(call('deep', { rawInput: { at: nested(acpNestingMax + 1) }, title: 'Deep' }));
  const terminal = { _meta: { terminal_output_delta: { data: `-${'o'.repeat(acpOutputCharsMax)}` } } };
  talk.update({ ...done('shallow'), ...terminal });
  for (let at = 0; at < acpCallsMax; at++) talk.update(call(`c${at}`));
  talk.ask(0, call('beyond'));
  expect(textsOf(talk.events).map(({ length }) => length)).toEqual([acpBlockCharsMax, 1]);
  const inputs = talk.events.flatMap((event) => (event.type === 'call' ? [event.input] : []));
  expect(inputs).toHaveLength(acpCallsMax + 1);
  expect([JSON.stringify(inputs[0]).length > 64, inputs[1]]).toEqual([true, { title: 'Deep' }]);
  const output = talk.events.find(({ type }) => type === 'result');
  expect(JSON.stringify(output)).toContain(`"text":"${'o'.repeat(acpOutputCharsMax)}"`);
  expect(talk.outcomeOf(0)).toEqual({ outcome: 'selected', optionId: 'no' });
});

it('[AC19] MCP servers are given to an agent that supports HTTP; to another one they are reported as failed', () => {
  const mcpServers = [{ name: 'desk', url: 'http://127.0.0.1:1/mcp' }];
  const talk = converseInTest({ mcpServers });
  talk.open({ mcpCapabilities: { http: true } });
  expect(talk.written.at(-1)?.params?.['mcpServers']).toEqual([{ type: 'http', ...mcpServers[0], headers: [] }]);
  const without = converseInTest({ mcpServers });
  without.open();
  expect(without.written.at(-1)?.params?.['mcpServers']).toEqual([]);
  expect(without.events.at(-1)).toMatchObject({ type: 'server_failed', serverName: 'desk' });
});

it('[U405] open calls keep a limited number of characters together, an agent that sends any field again and again adds nothing, and requests that wait are counted', () => {
  const { acpKeptCharsMax, acpWaitingMax, programNameCharsMax } = programLimits;
  const talk = converseInTest(asking);
  talk.open();
  talk.say('Go.');
  const half = 'x'.repeat(acpKeptCharsMax / 2 - 2_000);
  talk.update(call('c1', { status: 'pending', rawInput: { a: half } }));
  for (let n = 0; n < 10; n++) talk.update({ ...done('c1', 'pending'), [`field${n}`]: half, rawInput: { a: half } });
  talk.update(call('c2', { status: 'pending', rawInput: { b: half } }));
  talk.update({ ...done('c2', 'pending'), rawInput: { c: half, d: null } });
  const output = { _meta: { terminal_output_delta: { data: half } } };
  talk.update({ sessionUpdate: 'tool_call_update', toolCallId: 'c2', ...output });
  talk.update(done('c1'));
  // There is room again.
  talk.update({ ...done('c2', 'in_progress'), rawInput: { e: half } });
  const inputs = talk.events.flatMap((event) => (event.type === 'call' ? [event.input] : []));
  expect(inputs).toEqual([{ a: half }, { b: half, d: null, e: half }]);
  talk.update({ ...done('c2'), sessionUpdate: 'tool_call_update' });
  const results = talk.events.flatMap((event) => (event.type === 'result' ? [event.content] : []));
  expect(JSON.stringify(results).length).toBeLessThan(2_000);

  for (let id = 0; id <= acpWaitingMax; id++) talk.ask(id, call('c3', { sessionUpdate: undefined }));
  expect([talk.outcomeOf(acpWaitingMax - 1), talk.outcomeOf(acpWaitingMax)]).toEqual([
    undefined,
    { outcome: 'selected', optionId: 'no' },
  ]);
  // A name that is too long is that of no call.
  talk.update(call('y'.repeat(programNameCharsMax + 1)));
  talk.ask(1_000, call('y'.repeat(programNameCharsMax + 1), { sessionUpdate: undefined }));
  expect(talk.outcomeOf(1_000)).toEqual({ outcome: 'selected', optionId: 'no' });
  expect(talk.events.filter(({ type }) => type === 'call')).toHaveLength(3);
});

it('[U405] each value of kept fields counts 512 characters, in lists and objects too, so that a call has few enough to be copied', () => {
  const { acpKeptCharsMax, acpValueChars } = programLimits;
  const talk = converseInTest(asking);
  talk.open();
  talk.say('Go.');
  const half = acpKeptCharsMax / acpValueChars / 2;
  const names = (prefix: string) => Object.fromEntries(Array.from({ length: half }, (_, n) => [`${prefix}${n}`, n]));
  talk.update(call('c1', { status: 'pending', rawInput: names('a') }));
  talk.update({
    ...done('c1', 'in_progress'),
    rawInput: { ...names('b'), list: Array.from({ length: half }, () => 0) },
  });
  const [input] = talk.events.flatMap((event) => (event.type === 'call' ? [event.input] : []));
  const kept = Object.keys(input as object);
  expect(kept.length).toBeGreaterThan(2 * half * 0.97);
  expect(kept.length).toBeLessThan(2 * half);
  expect(kept).not.toContain('list');
});
