import { describe, expect, it } from 'vitest';
import { oneBlockPerLine } from '../../../../../bench/streams.ts';
import { assistant, brief, briefs, call, init, text, thinking, translate } from '../../../../../test/support/lines.ts';
import { type Recording, recording, recordings } from '../../../../../test/support/recordings.ts';
import type { AgentEvent } from '../wire/events.ts';
import { parseLine } from '../lines/parse-line.ts';
import { StreamTranslator } from './stream-translator.ts';

/** What every program that was recorded writes: one finished block per line. */
describe('one block per line', () => {
  it('[S15] numbers the blocks of one message 0, 1, 2', () => {
    const lines = [thinking('plan'), text('The answer.'), call('toolu_1')].map((block, index) =>
      assistant('m1', [block], { uuid: `u${index}` }),
    );
    expect(briefs(lines)).toEqual([
      'main thinking_delta m1.0 plan',
      'main text_delta m1.1 The answer.',
      'main tool_use m1.2 toolu_1',
    ]);
  });

  it('[S15] continues numbering where another message came between', () => {
    const at = (id: string, content: string, uuid: string) => assistant(id, [text(content)], { uuid });
    expect(briefs([at('m1', 'a', 'u1'), at('m2', 'b', 'u2'), at('m1', 'c', 'u3'), at('m1', 'd', 'u4')])).toEqual([
      'main text_delta m1.0 a',
      'main text_delta m2.0 b',
      'main text_delta m1.1 c',
      'main text_delta m1.2 d',
    ]);
  });

  it('[S69] events of every type are plain objects with nothing but their fields', () => {
    const types = new Set<string>();
    for (const recorded of recordings().filter((_, index) => index % 10 === 0)) {
      for (const event of new StreamTranslator().push(recorded.bytes())) {
        types.add(event.type);
        expect(Object.getPrototypeOf(event)).toBe(Object.prototype);
        expect(Object.keys(event).slice(0, 4)).toEqual(['seq', 'stream_id', 'depth', 'thread']);
        expect(Object.values(event)).not.toContain(undefined);
      }
    }
    expect([...types]).toEqual(expect.arrayContaining(['text_delta', 'tool_use', 'tool_result', 'tool_input_delta']));
  });

  it.each([
    ['2.1.197/agents-parallel', 9],
    ['2.1.325/agents-parallel-many', 15],
  ])('[S16] emits exactly the blocks of %s: %i', (name, count) => {
    expect(blocksOnLines(recording(name))).toBe(count);
    expect(blocksSaid(recording(name))).toBe(count);
  });

  it('[S16] emits as many blocks as there are, in every recording without partial messages', () => {
    const whole = recordings().filter(
      (each) => /^(2\.1|historic)/.test(each.name) && !decode(each.bytes()).includes('"stream_event"'),
    );
    expect(whole.length).toBeGreaterThan(200);
    for (const each of whole) expect(blocksSaid(each), each.name).toBe(blocksOnLines(each));
  });

  it('[S17] gives each message its own numbers', () => {
    const { lines, blocks } = oneBlockPerLine({ messages: 30, blocks: 4 });
    const events = translate(lines.map((line) => parseLine(line)!)).filter(isBlock);
    expect(events.map(({ message_id, block }) => [message_id, block])).toEqual(
      blocks.map(({ messageId, index }) => [messageId, index]),
    );
  });

  it('[S18] emits two equal texts of one message twice', () => {
    const line = (uuid: string) => assistant('m1', [text('Done.')], { uuid });
    const inits = [init({ claude_code_version: '2.1.325' }), init({ claude_code_version: '1.0.100' }), undefined];
    for (const first of inits) {
      const events = translate([...(first ? [first] : []), line('u1'), line('u2'), line('u3')]);
      expect(events.filter(({ type }) => type === 'text_delta').map(brief)).toEqual([
        'main text_delta m1.0 Done.',
        'main text_delta m1.1 Done.',
        'main text_delta m1.2 Done.',
      ]);
    }
  });

  it('[S18] emits a text that begins like the one before it as a block of its own', () => {
    const lines = [assistant('m1', [text('ab')], { uuid: 'u1' }), assistant('m1', [text('abcd')], { uuid: 'u2' })];
    expect(briefs(lines)).toEqual(['main text_delta m1.0 ab', 'main text_delta m1.1 abcd']);
  });

  it('[S19] emits a repeated line once', () => {
    const line = assistant('m1', [text('a')], { uuid: 'u1' });
    const other = assistant('m1', [text('b')], { uuid: 'u2' });
    expect(briefs([line, other, line, other, line])).toEqual(['main text_delta m1.0 a', 'main text_delta m1.1 b']);
    const ofAgent = assistant('m2', [text('a')], { uuid: 'u1', parent_tool_use_id: 'toolu_A' });
    expect(briefs([line, ofAgent, ofAgent])).toEqual([
      'main text_delta m1.0 a',
      'toolu_A thread_start parent unresolved',
      'toolu_A text_delta m2.0 a',
    ]);
  });

  it('[S19] takes no two lines for one whose ids differ in a single digit, whichever it is', () => {
    const digits = '00000000-0000-0000-0000-000000000000'.split('');
    const uuid = digits.join('');
    const places = digits.flatMap((digit, at) => (digit === '0' ? [at] : []));
    const ids = places.flatMap((at) =>
      '123456789abcdef'.split('').map((digit) => digits.toSpliced(at, 1, digit).join('')),
    );
    const lines = [uuid, ...ids, 'a', 'b', 'ab', 'abc', 'abcde'].map((id) =>
      assistant('m1', [text('x')], { uuid: id }),
    );
    expect(translate([...lines, ...lines]).length).toBe(lines.length);
  });

  it('[S19] emits user and result lines once too', () => {
    const user = { type: 'user', uuid: 'u1', message: { content: 'Hello' } };
    const result = { type: 'result', uuid: 'u2', result: 'done' };
    expect(briefs([user, user, result, result])).toEqual(['main prompt user: Hello', 'main turn_complete']);
  });

  it('[S20] loses no block where messages have no id', () => {
    const { lines, blocks } = oneBlockPerLine({ messages: 200, ids: 'none' });
    const events = translate(lines.map((line) => parseLine(line)!)).filter(isBlock);
    const words = events.map((event) => (event.type === 'tool_use' ? event.toolUseId : event.content));
    expect(words).toEqual(blocks.map((block) => block.text));
    // Without a message they are numbered through.
    expect(events.map((event) => event.block)).toEqual(blocks.map((_, index) => index));
    expect(events.every((event) => event.message_id === undefined)).toBe(true);
  });

  it('[S20] keeps equal blocks without message id apart by the ids of their lines', () => {
    const line = (uuid: string) => assistant('', [text('Done.')], { uuid });
    expect(briefs([line('u1'), line('u2'), line('u2')])).toEqual([
      'main text_delta .0 Done.',
      'main text_delta .1 Done.',
    ]);
  });
});

type BlockEvent = Extract<AgentEvent, { type: 'text_delta' | 'thinking_delta' | 'tool_use' }>;

function isBlock(event: AgentEvent): event is BlockEvent {
  return event.type === 'text_delta' || event.type === 'thinking_delta' || event.type === 'tool_use';
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function blocksOnLines(recorded: Recording): number {
  const messages = decode(recorded.bytes()).split('\n').map(parseLine);
  return messages.filter((message) => message?.type === 'assistant').length;
}

/** A block said twice would show in the places. */
function blocksSaid(recorded: Recording): number {
  const stream = new StreamTranslator();
  const events = [...stream.push(recorded.bytes()), ...stream.end()];
  const said = events.filter((event) => 'block' in event && !['retract', 'block_aborted'].includes(event.type));
  const places = said.map((event) => 'block' in event && `${event.thread} ${event.message_id} ${event.block}`);
  expect(new Set(places).size).toBe(said.length);
  return said.length;
}
