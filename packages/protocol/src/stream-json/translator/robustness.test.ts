import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatedStreams } from '../../../../../test/support/generated.ts';
import { liveBytes } from '../../../../../test/support/heap.ts';
import { assistant, briefs, result, system, text, toolResult, translate } from '../../../../../test/support/lines.ts';
import { mutateLine } from '../../../../../test/support/mutate.ts';
import { recordings } from '../../../../../test/support/recordings.ts';
import { assertProperty, isLong, randomText, seed, timeout } from '../../../../../test/support/seed.ts';
import { createAccelerator } from '../accelerator.ts';
import type { StreamJsonMessage } from '../wire/messages.ts';
import { parseLine } from '../lines/parse-line.ts';
import { StreamJsonReader } from '../lines/reader.ts';
import { StreamTranslator } from './stream-translator.ts';
import { createTree, foldEvent } from '../tree.ts';
import { Translator } from './translator.ts';

describe('odd shapes', () => {
  it('[S53] emit the defined result', () => {
    const saying = (content: unknown) => briefs([assistant('m1', content)]);
    expect(saying([null])).toEqual(['main raw block/invalid']);
    expect(saying({})).toEqual(['main raw block/invalid']);
    expect(saying('x')).toEqual(['main text_delta m1.0 x']);
    expect(saying(null)).toEqual([]);
    expect(saying([])).toEqual([]);
    expect(saying([[], 5, 'x', { type: 7 }, text('good')])).toEqual([
      ...Array.from({ length: 4 }, () => 'main raw block/invalid'),
      'main text_delta m1.0 good',
    ]);
    expect(saying([{ type: 'text' }, { type: 'thinking', thinking: 5 }, { type: 'tool_use' }])).toEqual([
      'main text_delta m1.0 ',
      'main thinking_delta m1.1 ',
      'main tool_use m1.2 ',
    ]);
  });

  it.each([
    ['no id', { name: 'Bash', input: {} }, 1],
    ['an empty id', { id: '', name: 'Bash', input: {} }, 1],
    ['an id that is not a text', { id: 7, name: 'Bash', input: {} }, 1],
    ['no name', { id: 'toolu_1', input: {} }, 1],
    ['an empty name', { id: 'toolu_1', name: '', input: {} }, 1],
    ['neither', {}, 1],
    ['both', { id: 'toolu_1', name: 'Bash', input: {} }, 0],
  ])(
    '[S70] a call with %s is counted in drift() each time it is emitted: as a line, and streamed',
    (_, call, count) => {
      const block = { type: 'tool_use', ...call };
      const event = (value: object) => ({ type: 'stream_event', event: value });
      const line = new Translator();
      expect(line.translate(assistant('m1', [block])).map(({ type }) => type)).toEqual(['tool_use']);
      const streamed = new Translator();
      const lines = [
        event({ type: 'message_start', message: { id: 'm1' } }),
        event({ type: 'content_block_start', index: 0, content_block: block }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } }),
        event({ type: 'content_block_stop', index: 0 }),
        event({ type: 'message_stop' }),
      ] as StreamJsonMessage[];
      const said = lines.flatMap((one) => streamed.translate(one)).map(({ type }) => type);
      expect(said).toEqual(['tool_use_start', 'tool_input_delta', 'tool_use']);
      for (const translator of [line, streamed]) {
        expect(translator.drift()).toEqual(count === 0 ? {} : { 'block/tool_use': count });
      }
    },
  );

  it('[S71] excerpts of lines that cannot be read, and of long names, end between characters', () => {
    const reader = new StreamJsonReader();
    const [issue] = reader.push(new TextEncoder().encode(`${'x'.repeat(119)}🙂 is not JSON\n`));
    expect(issue).toMatchObject({ type: 'malformed', excerpt: 'x'.repeat(119) });
    const translator = new Translator();
    translator.translate({ type: `${'x'.repeat(63)}${'🙂'.repeat(200)}` });
    expect(Object.keys(translator.drift())).toEqual([expect.stringMatching(/^x{63}~-?\d+~-?\d+$/)]);
  });

  it('[S53] do no harm as messages, requests and events', () => {
    const lines = [
      { type: 'assistant', message: null },
      { type: 'assistant' },
      { type: 'user', message: null },
      { type: 'user', message: { content: null } },
      { type: 'system' },
      { type: 'control_request', request: null },
      { type: 'stream_event', event: null },
      { type: 'stream_event', event: { type: 'content_block_delta' } },
      { type: 'stream_event', event: { type: 'content_block_start', content_block: null } },
      { type: 'stream_event', event: { type: { toString: 'no text' } } },
      { type: 'system', subtype: 'task_started' },
      { type: 'system', subtype: 'task_updated', task_id: 5, patch: [] },
    ] as StreamJsonMessage[];
    expect(briefs(lines)).toEqual([
      'main raw system',
      'main raw control_request',
      'main raw stream_event/undefined',
      'main raw delta/undefined',
      'main raw block/invalid',
      'main raw stream_event/undefined',
      'main raw system/task_started',
      'main raw system/task_updated',
    ]);
    expect(briefs([{ type: 'user', message: { content: { odd: true } } } as unknown as StreamJsonMessage])).toEqual([
      'main raw user',
    ]);
  });

  it('[S53] of a result give a turn without what could not be read', () => {
    const odd = { modelUsage: { m: null, n: 5 }, usage: 7, total_cost_usd: 'free', result_index: '1', errors: 'none' };
    const [turn] = translate([result({ ...odd, origin: null, result: 5 })]);
    expect(turn).toMatchObject({
      type: 'turn_complete',
      isError: false,
      result: null,
      inputTokens: 0,
      outputTokens: 0,
    });
    expect(turn).not.toHaveProperty('costUsd');
    expect(turn).not.toHaveProperty('contextWindow');
  });

  it('[S53] of names that every object has are names like any other', () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const line = `{"type":"result","modelUsage":{"__proto__":${JSON.stringify(usage)},"constructor":${JSON.stringify(usage)}}}`;
    const [first, second] = translate([parseLine(line)!, parseLine(line)!]);
    expect(first).toMatchObject({ inputTokens: 2, outputTokens: 4 });
    expect(second).toMatchObject({ inputTokens: 0, outputTokens: 0 });
    const agents = ['__proto__', 'constructor', 'main'].map((parent_tool_use_id) =>
      assistant('m1', [text('x')], { parent_tool_use_id, uuid: parent_tool_use_id }),
    );
    expect(new Set(translate(agents).map(({ thread }) => thread)).size).toBe(3);
  });

  it('[S53] large inputs do no harm: 150,000 models, a result nested 50,000 deep', () => {
    const models = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`m${index}`, { inputTokens: 1 }]));
    expect(translate([result({ modelUsage: models })])).toMatchObject([{ inputTokens: 150_000 }]);
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as unknown;
    expect(translate([toolResult('t', deep), assistant('m1', [{ type: 'odd', deep }])]).length).toBe(2);
  });

  it('[S53] of kinship do not make an agent its own parent', () => {
    const spawns = (parent: string, id: string) =>
      assistant(`m${parent}`, [{ type: 'tool_use', id, name: 'Agent', input: {} }], { parent_tool_use_id: parent });
    const events = translate([spawns('a', 'a'), spawns('b', 'c'), spawns('c', 'd'), spawns('d', 'b')]);
    expect(events.filter((event) => 'parent' in event && event.parent !== 'unresolved')).toMatchObject([
      { thread: 'c', parent: 'b' },
      { thread: 'd', parent: 'c' },
    ]);
    const circle = system('task_started', { task_id: 't', tool_use_id: 'x', parent_task_id: 't', spawn_depth: 3 });
    expect(translate([circle])[0]).toMatchObject({ thread: 't', parent: 'unresolved' });
  });
});

describe('what is unknown', () => {
  it('[S54] reaches the consumer untouched and is counted by its kind', () => {
    const lines: StreamJsonMessage[] = [
      { type: 'brand_new', value: 1 },
      { type: 'brand_new', value: 2 },
      { type: 'system', subtype: 'brand_new' },
      { type: 'control_request', request_id: 'r', request: { subtype: 'brand_new' } },
      assistant('m1', [{ type: 'hologram', data: 'x' }]),
      { type: 'stream_event', event: { type: 'ping' } },
      { type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta: { type: 'new_delta' } } },
    ];
    const translator = new Translator();
    const events = lines.flatMap((line) => translator.translate(line));
    expect(events.map((event) => event.type === 'raw' && event.kind)).toEqual([
      'brand_new',
      'brand_new',
      'system/brand_new',
      'control_request/brand_new',
      'block/hologram',
      'stream_event/ping',
      'delta/new_delta',
    ]);
    expect(events[0]).toMatchObject({ value: lines[0] });
    expect(events[4]).toMatchObject({ message_id: 'm1', block: 0, value: { type: 'hologram', data: 'x' } });
    expect(translator.drift()).toEqual({
      brand_new: 2,
      'system/brand_new': 1,
      'control_request/brand_new': 1,
      'block/hologram': 1,
      'stream_event/ping': 1,
      'delta/new_delta': 1,
    });
  });

  it('[S54] is nothing in what both recorded programs print', () => {
    for (const recording of recordings().filter(({ name }) => name.startsWith('2.1.'))) {
      const stream = new StreamTranslator();
      stream.push(recording.bytes());
      stream.end();
      const unknown = Object.keys(stream.translator.drift()).filter((kind) => !kind.startsWith('settled/'));
      expect(unknown, recording.name).toEqual([]);
    }
  });
});

describe('random input', () => {
  it('[S9] never makes the reader throw: any bytes', { timeout }, () => {
    assertProperty(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 8 }), (chunks) => {
        const reader = new StreamJsonReader({ lineBytesMax: 40 });
        const items = [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
        expect(items.every(({ type }) => ['message', 'malformed', 'oversize'].includes(type))).toBe(true);
      }),
      isLong ? 1_000_000 : 3_000,
    );
  });

  it('[S9] never makes anything throw: any JSON', { timeout }, () => {
    assertProperty(
      fc.property(fc.array(fc.json(), { maxLength: 5 }), (lines) => {
        const stream = new StreamTranslator();
        stream.push(new TextEncoder().encode(lines.join('\n')));
        stream.end();
      }),
      isLong ? 100_000 : 1_000,
    );
  });

  it('[S9, S53] never makes anything throw or hold on to memory: real lines with something wrong', { timeout }, () => {
    const random = randomText();
    const lines = [
      ...recordings().flatMap((recording) => new TextDecoder().decode(recording.bytes()).split('\n')),
      ...generatedStreams().flatMap(([, stream]) => stream.lines),
    ].filter((line) => line !== '' && line.length < 4_000);
    let stream = new StreamTranslator();
    let tree = createTree();
    const before = liveBytes();
    const count = isLong ? 1_000_000 : 30_000;
    for (let run = 0; run < count; run++) {
      // Streams of some length, so that wrong lines meet a state that has grown.
      if (run % 500 === 0) {
        stream = new StreamTranslator(run % 1_000 === 0 ? {} : { accelerator: createAccelerator() });
        tree = createTree();
      }
      const line = mutateLine(random.pick(lines), random);
      try {
        for (const event of [...stream.push(line), ...stream.push(LF)]) foldEvent(tree, event);
      } catch (error) {
        throw new Error(`run ${run}, FLEETLOOM_SEED=${seed}: ${new TextDecoder().decode(line)}`, { cause: error });
      }
    }
    expect(liveBytes() - before).toBeLessThan(16 * 2 ** 20);
  });
});

const LF = Uint8Array.of(0x0a);
