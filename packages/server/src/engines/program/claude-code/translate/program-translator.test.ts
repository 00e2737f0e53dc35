import type { StreamJsonMessage, WireBlock } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { agent } from '../../suite/conversation.suite.ts';
import type { ProgramEvent } from '../../program.ts';
import { Asks } from '../approvals/asks.ts';
import { ProgramTranslator } from './program-translator.ts';
import { ToolServer } from '../approvals/tool-server.ts';

// One agent under two names: a line knows it by its call, a permission request by its task.
const spawn = assistant(null, 'spawn', { type: 'tool_use', id: 'toolu_A', name: 'Agent', input: {} });
const early = assistant('toolu_A', 'early', { type: 'text', text: 'early' });
const late = assistant('toolu_A', 'late', { type: 'text', text: 'late' });
const asked: StreamJsonMessage = {
  type: 'control_request',
  request_id: 'r1',
  request: { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 'toolu_B', input: {}, agent_id: 'task_A' },
};
const linked: StreamJsonMessage = {
  ...early,
  agent_id: 'task_A',
  uuid: 'linked',
  message: said('linked', { type: 'text', text: 'linked' }),
};

it.each([
  ['its lines came first', [spawn, early, asked, linked, late]],
  ['its ask came first', [spawn, asked, early, linked, late]],
  ['its call came last', [early, asked, spawn, linked, late]],
  ['it had said nothing', [spawn, asked, linked, late]],
  ['it had asked nothing', [spawn, early, linked, late]],
])('[J171] an agent that was taken for two is one thread from then on: %s', (_, lines) => {
  const events = translate(lines);
  const ended = events.filter(({ type }) => type === 'thread_ended').map(({ key }) => key);
  const open = events.filter(({ type }) => type === 'thread_opened').map(({ key }) => key);
  const kept = open.filter((key) => !ended.includes(key));
  expect(kept).toHaveLength(1);
  const after = events.slice(events.findIndex((event) => textOf(event) === 'linked'));
  expect(after.filter((event) => textOf(event) !== '').map((event) => [event.key, textOf(event)])).toEqual([
    [kept[0], 'linked'],
    [kept[0], 'late'],
  ]);
  // Nothing follows the end of the thread that has ended, and no text is lost or emitted twice.
  for (const key of ended) {
    const end = events.findIndex((event) => event.type === 'thread_ended' && event.key === key);
    expect(events.slice(end + 1).filter((event) => event.key === key)).toEqual([]);
  }
  const texts = lines.includes(early) ? ['early', 'linked', 'late'] : ['linked', 'late'];
  expect(events.map(textOf).filter((text) => text !== '')).toEqual(texts);
});

it('[J171] the program receives its own name of a thread, whatever our name is', () => {
  const translator = create();
  for (const line of [spawn, early, linked]) translator.take(line);
  expect(translator.taskOf('toolu_A')).toBe('task_A');
  expect(translator.taskOf('task_of_an_earlier_process')).toBe('task_of_an_earlier_process');
});

it.each([
  ['refused the message', 0, { type: 'failed', reason: 'unknown', message: 'blocked by hook: Not that.' }],
  ['stopped a turn that the model had begun', 1, { type: 'done' }],
])('[J502] a turn is not well whose message a hook has refused: a hook that %s', (_, num_turns, outcome) => {
  const refused = {
    type: 'system',
    subtype: 'informational',
    content: 'blocked by hook: Not that.',
    prevent_continuation: true,
  };
  const ended = { type: 'result', subtype: 'success', is_error: false, result: '', num_turns };
  const init = { type: 'system', subtype: 'init', session_id: 's1' };
  const translator = create();
  translator.said();
  const events = [init, refused, ended, init, { ...ended, num_turns: 0 }].flatMap((line) => translator.take(line));
  const ends = events.filter((event) => event.type === 'turn_ended');
  expect(ends).toMatchObject([{ outcome }, { outcome: { type: 'done' } }]);
  // No other turn is waited for.
  if (num_turns === 0) expect(ends[0]).toMatchObject({ isMoreToCome: false });
});

it('[J362] a failed request behind which an agent goes on is emitted before its next request, and one with which it ends is not', () => {
  const failed = { ...assistant('toolu_A', 'failed', { type: 'text', text: 'API Error: cut' }), error: 'unknown' };
  const events = translate([spawn, early, failed, late]).filter(({ key }) => key !== 'main');
  const types = events.map(({ type }) => type);
  expect(events.filter(({ type }) => type === 'request_failed')).toMatchObject([{ message: 'API Error: cut' }]);
  expect(types.indexOf('request_failed')).toBeLessThan(types.lastIndexOf('request_started'));
  expect(translate([spawn, early, failed]).map(({ type }) => type)).not.toContain('request_failed');
});

it('[J540] an agent that the program announces before the call that makes it opens right behind that call, before its caller can end', () => {
  const started = (task_id: string, tool_use_id: string) => ({
    type: 'system',
    subtype: 'task_started',
    task_id,
    tool_use_id,
    task_type: 'local_agent',
    prompt: `Do ${task_id}.`,
  });
  const calls = assistant('toolu_A', 'calls', { type: 'tool_use', id: 'toolu_D', name: 'Agent', input: {} });
  const ended = { type: 'system', subtype: 'task_updated', task_id: 'middle', patch: { status: 'completed' } };
  const deep = assistant('toolu_D', 'deep', { type: 'text', text: 'deep' });
  const events = translate([
    spawn,
    started('middle', 'toolu_A'),
    early,
    started('deep', 'toolu_D'),
    calls,
    ended,
    deep,
  ]);
  const at = events.findIndex((event) => event.type === 'thread_opened' && event.key === 'deep');
  expect(events[at]).toMatchObject({ parentKey: 'middle', prompt: 'Do deep.', callId: 'toolu_D' });
  expect(events[at - 1]).toMatchObject({ type: 'call', key: 'middle', callId: 'toolu_D' });
  expect(events.findIndex(({ type }) => type === 'thread_ended')).toBeGreaterThan(at);
});

it('[J543] a permission request that is taken after the result of its call, which a transcript had, does not log the call again', () => {
  const makes = assistant('toolu_A', 'makes', { type: 'tool_use', id: 'toolu_B', name: 'Bash', input: {} });
  const content = [{ type: 'tool_result', tool_use_id: 'toolu_B', content: 'rejected', is_error: true }] as const;
  const rejected = { type: 'user', parent_tool_use_id: 'toolu_A', message: { role: 'user', content: [...content] } };
  const lines = [spawn, makes, rejected, asked].map((line) => ({
    ...line,
    ...(line === spawn ? {} : { agent_id: 'task_A' }),
  }));
  const events = translate(lines as StreamJsonMessage[]).filter(({ key }) => key !== 'main');
  expect(events.map(({ type }) => type).filter((type) => type === 'call' || type === 'ask')).toEqual(['call']);
});

function translate(lines: readonly StreamJsonMessage[]): ProgramEvent[] {
  const translator = create();
  return lines.flatMap((line) => translator.take(line));
}

function create(): ProgramTranslator {
  return new ProgramTranslator({
    agent: agent(),
    members: [],
    asks: new Asks(() => {}),
    tools: new ToolServer([], () => {}),
    known: [],
    isResumed: false,
    hearsNested: true,
    onUnknownRequest: () => {},
  });
}

function assistant(parent: string | null, uuid: string, block: WireBlock): StreamJsonMessage {
  return { type: 'assistant', parent_tool_use_id: parent, uuid, message: said(uuid, block) };
}

function said(id: string, block: WireBlock) {
  return { id: `msg_${id}`, model: 'x', role: 'assistant', content: [block] };
}

function textOf(event: ProgramEvent): string {
  return event.type === 'block_ended' && event.content.type === 'text' ? event.content.text : '';
}

it.each([
  ['after its line', [0, 1]],
  ['before its line, which a transcript has', [1, 0]],
])(
  '[J504] the request of an answer ends when the program waits for a custom tool call of that answer, %s',
  (_, order) => {
    const called = assistant('toolu_A', 'called', {
      type: 'tool_use',
      id: 'toolu_C',
      name: 'mcp__fleetloom__form',
      input: {},
    });
    const params = { name: 'form', _meta: { 'claudecode/toolUseId': 'toolu_C' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const waits = {
      type: 'control_request',
      request_id: 'r2',
      request: { subtype: 'mcp_message', server_name: 'fleetloom', message },
    };
    const events = translate([spawn, ...order.map((at) => [called, waits][at]!)]).filter(({ key }) => key !== 'main');
    expect(events.map(({ type }) => type).slice(-3)).toEqual(['request_started', 'call', 'request_ended']);
  },
);
