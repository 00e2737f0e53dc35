import { describe, expect, it } from 'vitest';
import type { Json } from '../../base/json/json.ts';
import { modelLimits } from './limits.ts';
import { AnswerFold } from './answer-fold.ts';
import type { EngineEvent } from './engine.ts';
import { failureOf, finishedOf } from './suite/send-request.suite.ts';

const start = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 3, output_tokens: 1 } } };
const stop = { type: 'message_stop' };

describe('blocks', () => {
  it('[N13] a hidden thought survives unchanged', () => {
    const events = fold([...block({ type: 'redacted_thinking', data: 'sealed' }), ...ending('end_turn')]);
    expect(events[0]).toEqual({ type: 'block_started', index: 0, block: 'thinking' });
    expect(finishedOf(events).content).toEqual([{ type: 'redacted_thinking', data: 'sealed' }]);
  });

  it('[N13] a block of an unknown kind survives unchanged', () => {
    const raw = { type: 'hologram', data: { a: [1] }, nothing: null };
    const events = fold([...block(raw), ...ending('end_turn')]);
    expect(events[0]).toEqual({ type: 'block_started', index: 0, block: 'other' });
    expect(finishedOf(events).content).toEqual([{ type: 'opaque', raw }]);
  });

  it('[N13] a call that the endpoint makes itself keeps its input', () => {
    const call = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} };
    const events = fold([...block(call, json('{"query":'), json('"x"}')), ...ending('end_turn')]);
    expect(finishedOf(events).content).toEqual([{ type: 'opaque', raw: { ...call, input: { query: 'x' } } }]);
  });

  it('[N13] unknown fields are kept, empty ones are not', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {}, caller: { type: 'direct' }, mood: 'good' };
    const text = { type: 'text', text: '', citations: null };
    const citation = { type: 'citations_delta', citation: { cited_text: 'x' } };
    const said = block(text, { type: 'text_delta', text: 'Hi' }, citation);
    const events = fold([
      ...said,
      ...block({ ...call, caller: { type: 'other' } }),
      ...block(call),
      ...ending('tool_use'),
    ]);
    expect(finishedOf(events).content).toEqual([
      { type: 'text', text: 'Hi', citations: [{ cited_text: 'x' }] },
      { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {}, caller: { type: 'other' }, mood: 'good' },
      { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {}, mood: 'good' },
    ]);
  });

  it('[N13] content in the start of a block is not lost', () => {
    const thinking = { type: 'thinking', thinking: 'So', signature: 'sig' };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { a: 1 } };
    const events = fold([
      ...block({ type: 'text', text: 'He' }, text('llo')),
      ...block(thinking),
      ...block(call),
      ...ending('tool_use'),
    ]);
    expect(events.filter(({ type }) => type === 'delta')).toEqual([
      { type: 'delta', index: 0, text: 'He' },
      { type: 'delta', index: 0, text: 'llo' },
      { type: 'delta', index: 1, text: 'So' },
    ]);
    expect(finishedOf(events).content).toEqual([{ type: 'text', text: 'Hello' }, thinking, call]);
  });

  it('[N13] pings and unknown events emit nothing', () => {
    const events = fold([
      { type: 'ping' },
      { type: 'weather' },
      ...block({ type: 'text', text: '' }, text('Hi')),
      ...ending('end_turn'),
    ]);
    expect(events.map(({ type }) => type)).toEqual(['block_started', 'delta', 'finished']);
  });
});

describe('calls that cannot be answered', () => {
  it.each([
    ['no id', { name: 'bash', input: {} }],
    ['an empty id', { id: '', name: 'bash', input: {} }],
    ['an id that is not a text', { id: 7, name: 'bash', input: {} }],
    ['no name', { id: 'toolu_1', input: {} }],
    ['an empty name', { id: 'toolu_1', name: '', input: {} }],
  ])('[R286] an answer with a call that has %s is broken', (_, call) => {
    const events = fold([...block({ type: 'text', text: 'x' }), ...block({ type: 'tool_use', ...call })]);
    expect(failureOf(events)).toMatchObject({
      message: expect.stringContaining('a call has no id or no name'),
      consequence: 'retry',
    });
  });
});

describe('calls that are cut off', () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} };

  it.each([
    ['max_tokens', [json('{"command":"rm -r')]],
    ['max_tokens', []],
    ['max_tokens', [json('')]],
    ['refusal', [json('{"a"')]],
    ['model_context_window_exceeded', [json('{')]],
  ])('[N14] a last call whose input was cut off is left out: %s', (reason, deltas) => {
    const said = block({ type: 'text', text: '' }, text('First.'));
    const events = fold([...said, ...block(call, ...deltas), ...ending(reason)]);
    expect(finishedOf(events).content).toEqual([{ type: 'text', text: 'First.' }]);
  });

  it('[N14] calls that were whole before the answer was cut off stay', () => {
    const events = fold([...block(call, json('{"a":1}')), ...block(call, json('{"b":')), ...ending('max_tokens')]);
    expect(finishedOf(events)).toMatchObject({ content: [{ input: { a: 1 } }], stop: { reason: 'max_tokens' } });
    const whole = fold([...block(call, json('{"a":1}')), ...ending('max_tokens')]);
    expect(finishedOf(whole).content).toMatchObject([{ input: { a: 1 } }]);
  });

  it.each(['{"a":', '[1]', '"text"', '7', 'null', 'nonsense'])(
    '[N14] an answer with a call whose input is not an object is a failure: %s',
    (input) => {
      const events = fold([...block(call, json(input)), ...ending('tool_use')]);
      expect(failureOf(events)).toMatchObject({ reason: 'request_failed', consequence: 'retry' });
    },
  );

  it('[N14] an answer with half a call in the middle is a failure, for every stop reason', () => {
    const after = block({ type: 'text', text: '' }, text('Then.'));
    expect(failureOf(fold([...block(call, json('{"a"')), ...after, ...ending('max_tokens')])).reason).toBe(
      'request_failed',
    );
  });
});

describe('disorder', () => {
  const opened = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };

  it.each<[string, Json[]]>([
    ['no object', [7]],
    ['a start without message', [{ type: 'message_start' }]],
    ['two starts', [start, start]],
    ['a block without type', [start, { type: 'content_block_start', index: 0, content_block: {} }]],
    ['a block inside another', [start, opened, { ...opened, index: 1 }]],
    ['a piece without block', [start, { type: 'content_block_delta', index: 0, delta: text('x') }]],
    ['a piece of another block', [start, opened, { type: 'content_block_delta', index: 1, delta: text('x') }]],
    ['a piece without content', [start, opened, { type: 'content_block_delta', index: 0 }]],
    ['an end without block', [start, { type: 'content_block_stop', index: 0 }]],
    ['an end of another block', [start, opened, { type: 'content_block_stop', index: 3 }]],
    ['an end inside a block', [start, opened, ...ending('end_turn')]],
    ['an end without reason', [start, stop]],
    ['an end without beginning', ending('end_turn', {})],
  ])('[N15] an answer that breaks the order is a failure: %s', (_, events) => {
    const out = push(events);
    expect(failureOf(out)).toMatchObject({ reason: 'request_failed', consequence: 'retry', retryAfterMs: null });
    expect(out.filter(({ type }) => type === 'failed')).toHaveLength(1);
  });

  it('[N13] a response without a model name is from the requested model', () => {
    expect(finishedOf(push([{ type: 'message_start', message: {} }, ...ending('end_turn')])).model).toBe('asked');
    expect(finishedOf(fold(ending('end_turn'))).model).toBe('m');
  });

  it('[N3] an unknown stop reason ends the turn, and a refusal has its reason', () => {
    expect(finishedOf(fold(ending('tired'))).stop).toEqual({ reason: 'end_turn', category: null, explanation: null });
    const details = { type: 'refusal', category: 'bio', explanation: 'No.' };
    const refused = { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details: details } };
    expect(finishedOf(fold([refused, stop])).stop).toEqual({ reason: 'refusal', category: 'bio', explanation: 'No.' });
  });

  it('[N15] a response has a limited number of characters', () => {
    const half = 'x'.repeat(modelLimits.engineAnswerCharsMax / 2);
    const call = { type: 'tool_use', id: 'a', name: 'b', input: {} };
    const texts = block({ type: 'text', text: '' }, text(half), text(half));
    expect(finishedOf(fold([...texts, ...ending('end_turn')])).content).toHaveLength(1);
    expect(failureOf(fold([...texts, ...block(call, json('{'))]))).toMatchObject({ consequence: 'turn' });
    expect(failureOf(fold([...texts, ...block({ type: 'text', text: 'x' })]))).toMatchObject({ consequence: 'turn' });
  });
});

describe('an answer without measure', () => {
  it('[N50] has at most 1,000 blocks', () => {
    const blocks = (count: number) => Array.from({ length: count }, () => block({ type: 'text', text: 'x' })).flat();
    expect(finishedOf(fold([...blocks(1_000), ...ending('end_turn')])).content).toHaveLength(1_000);
    expect(failureOf(fold(blocks(1_001)))).toMatchObject({ consequence: 'turn' });
    expect(modelLimits.engineBlocksMax).toBe(1_000);
  });

  it('[N50] has at most 100,000 values in the inputs of its calls, and any text in them', () => {
    const call = (id: string, ...pieces: string[]) =>
      block({ type: 'tool_use', id, name: 'b', input: {} }, ...pieces.map((piece) => json(piece)));
    // The object, its array and what is in that.
    const wide = (values: number) => ['{"a":[0', ',0'.repeat(values - 3), ']}'];
    const done = ending('tool_use');
    expect(finishedOf(fold([...call('1', ...wide(100_000)), ...done])).content).toHaveLength(1);
    expect(failureOf(fold([...call('1', ...wide(100_001)), ...done]))).toMatchObject({ consequence: 'turn' });
    const both = [...call('1', ...wide(60_000)), ...call('2', ...wide(60_000))];
    expect(failureOf(fold([...both, ...done])).message).toContain('more than 100000 values');
    const text = ['{"content":"', ...Array.from({ length: 300 }, () => ',[{'.repeat(1_000)), '"}'];
    expect(finishedOf(fold([...call('1', ...text), ...done])).content).toMatchObject([
      { input: { content: expect.stringMatching(/^,\[\{/) } },
    ]);
  });
});

describe('usage', () => {
  it('[N4] tokens written to the cache are reported by how long the cache keeps them', () => {
    const cache = { ephemeral_5m_input_tokens: 60, ephemeral_1h_input_tokens: 40 };
    const usage = { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: 100, cache_creation: cache };
    const begun = { type: 'message_start', message: { model: 'm', usage } };
    const ended = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 9, input_tokens: null, cache_creation_input_tokens: 100 },
    };
    expect(finishedOf(push([begun, ended, stop])).usage).toEqual({
      inputTokens: 5,
      outputTokens: 9,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 60,
      cacheWrite1hTokens: 40,
    });
  });

  it('[N4] invalid token counts are ignored', () => {
    const usage = {
      input_tokens: -1,
      output_tokens: 'many',
      cache_read_input_tokens: 1.5,
      cache_creation_input_tokens: {},
    };
    const begun = { type: 'message_start', message: { model: 'm', usage } };
    expect(Object.values(finishedOf(push([begun, ...ending('end_turn', {})])).usage)).toEqual([0, 0, 0, 0, 0]);
  });
});

function fold(events: readonly Json[]): EngineEvent[] {
  return push([start, ...events]);
}

/** As a reader does: up to the last event. Blocks get their numbers here. */
function push(events: readonly Json[]): EngineEvent[] {
  const answer = new AnswerFold('asked');
  const out: EngineEvent[] = [];
  let index = -1;
  for (const event of events) {
    if (out.at(-1)?.type === 'failed' || out.at(-1)?.type === 'finished') break;
    if (typeof event === 'object' && event !== null && 'number' in event) {
      if (event['type'] === 'content_block_start') index += 1;
      out.push(...answer.push({ ...event, index }));
    } else out.push(...answer.push(event));
  }
  return out;
}

function block(content: Json, ...deltas: Json[]): Json[] {
  return [
    { type: 'content_block_start', content_block: content, number: true },
    ...deltas.map((delta) => ({ type: 'content_block_delta', delta, number: true })),
    { type: 'content_block_stop', number: true },
  ];
}

function text(piece: string): Json {
  return { type: 'text_delta', text: piece };
}

function json(piece: string): Json {
  return { type: 'input_json_delta', partial_json: piece };
}

function ending(reason: string, changes: Json = { usage: { output_tokens: 7 } }): Json[] {
  return [{ type: 'message_delta', delta: { stop_reason: reason }, ...(changes as object) }, stop];
}
