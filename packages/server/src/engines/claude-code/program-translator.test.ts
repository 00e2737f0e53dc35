import type { StreamJsonMessage, WireBlock } from '@fleetloom/protocol/stream-json';
import { expect, it } from 'vitest';
import { agent } from '../program-suite/conversation.suite.ts';
import type { ProgramEvent } from '../program.ts';
import { Asks } from './asks.ts';
import { ProgramTranslator } from './program-translator.ts';
import { ToolServer } from './tool-server.ts';

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
  // Nothing of the one that is over follows its end, and no text is lost or told twice.
  for (const key of ended) {
    const end = events.findIndex((event) => event.type === 'thread_ended' && event.key === key);
    expect(events.slice(end + 1).filter((event) => event.key === key)).toEqual([]);
  }
  const texts = lines.includes(early) ? ['early', 'linked', 'late'] : ['linked', 'late'];
  expect(events.map(textOf).filter((text) => text !== '')).toEqual(texts);
});

it('[J171] whatever it is called here, the program hears the name that it gave it', () => {
  const translator = create();
  for (const line of [spawn, early, linked]) translator.take(line);
  expect(translator.taskOf('toolu_A')).toBe('task_A');
  expect(translator.taskOf('task_of_an_earlier_process')).toBe('task_of_an_earlier_process');
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
