import { describe, expect, it } from 'vitest';
import { assistant, briefs, init, result, text, translate } from '../../../../../test/support/lines.ts';
import { recordings } from '../../../../../test/support/recordings.ts';
import type { TurnComplete } from '../wire/events.ts';
import { StreamTranslator } from './stream-translator.ts';
import { Translator } from './translator.ts';

const usage = (inputTokens: number, outputTokens: number, contextWindow = 200_000) => ({
  inputTokens,
  outputTokens,
  cacheReadInputTokens: 10,
  cacheCreationInputTokens: 1,
  contextWindow,
});

describe('turns', () => {
  it('[S47] end once for each result, three for three', () => {
    const lines = [
      init(),
      result({ result_index: 0 }),
      init(),
      init(),
      result({ result_index: 1 }),
      result({ result_index: 2 }),
    ];
    const turns = translate(lines).filter((event) => event.type === 'turn_complete');
    expect(turns.map(({ turn, resultIndex }) => [turn, resultIndex])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
  });

  it('[S47] report a missing result, and only then', () => {
    const lines = (...indexes: (number | undefined)[]) =>
      translate(indexes.map((result_index) => result({ result_index }))).filter(({ type }) => type === 'gap');
    expect(lines(0, 1, 4, 5)).toMatchObject([{ expected: 2, got: 4 }]);
    expect(lines(3, 4)).toEqual([]); // joined in mid-stream
    expect(lines(0, undefined, 1, undefined, 2)).toEqual([]);
    expect(lines(0, 1, 0, 1)).toEqual([]); // a new process
  });

  it('[S47] close in the order in which they began, although a result comes after the first text of the next turn', () => {
    const lines = [
      init(),
      init(),
      assistant('m2', [text('second')], { uuid: 'u' }),
      result({ result: 'first' }),
      result(),
    ];
    expect(translate(lines).filter((event) => event.type === 'turn_complete')).toMatchObject([
      { turn: 0, result: 'first' },
      { turn: 1, result: 'done' },
    ]);
  });

  it('[S47] are as many as there are result lines in each recording', () => {
    for (const recording of recordings()) {
      const stream = new StreamTranslator();
      const events = [...stream.push(recording.bytes()), ...stream.end()];
      const lines = new TextDecoder().decode(recording.bytes()).split('\n');
      const results = lines.filter(
        (line) => line.endsWith('}') && (JSON.parse(line) as { type: string }).type === 'result',
      );
      expect(events.filter(({ type }) => type === 'turn_complete').length, recording.name).toBe(results.length);
    }
  });

  it('[S48] report an error with the text of its errors, else with the result, else with its kind', () => {
    const errorOf = (fields: object) => {
      const [error, turn] = translate([result({ session_id: 's1', ...fields })]);
      expect(turn).toMatchObject({ type: 'turn_complete', isError: true });
      return error;
    };
    const failed = { subtype: 'error_during_execution', result: undefined, errors: ['one', 'two'] };
    expect(errorOf(failed)).toMatchObject({ type: 'error', message: 'one\ntwo', sessionId: 's1' });
    expect(errorOf({ is_error: true, result: 'API Error: 500' })).toMatchObject({ message: 'API Error: 500' });
    expect(errorOf({ subtype: 'error_max_turns', result: undefined })).toMatchObject({ message: 'error_max_turns' });
    expect(briefs([result()])).toEqual(['main turn_complete']);
  });

  it('[S48] keep the errors beside the result of the turn', () => {
    const [, turn] = translate([result({ subtype: 'error_max_turns', errors: ['too many'], result: undefined })]);
    expect(turn).toMatchObject({ subtype: 'error_max_turns', isError: true, result: null, errors: ['too many'] });
  });

  it('[S49] pass the text of a result on as it is', () => {
    for (const answer of ['"quoted"', '"a" and "b"', '{"a":1}', '', ' x\n', '"\\"twice\\""']) {
      expect(complete({ result: answer })).toMatchObject({ result: answer });
    }
    expect(complete({ result: undefined })).toMatchObject({ result: null });
    expect(complete({ result: { odd: true } })).toMatchObject({ result: null });
  });

  it('[S49] decode a result twice only where it is asked for', () => {
    const legacy = (answer: unknown) =>
      translate([result({ result: answer })], { doubleEncodedResults: true }).find(
        (event) => event.type === 'turn_complete',
      );
    expect(legacy('"The actual text here"')).toMatchObject({ result: 'The actual text here' });
    expect(legacy('plain')).toMatchObject({ result: 'plain' });
    expect(legacy('"open')).toMatchObject({ result: '"open' });
    expect(legacy(undefined)).toMatchObject({ result: null });
  });
});

describe('costs', () => {
  const costs = (...totals: (number | undefined)[]) =>
    translate(totals.map((total_cost_usd) => result({ total_cost_usd })))
      .filter((event) => event.type === 'turn_complete')
      .map(({ costUsd }) => (costUsd === undefined ? undefined : Number(costUsd.toFixed(6))));

  it('[S50] are what each turn added to the running total', () => {
    expect(costs(0.5, 0.75, 0.75, 2)).toEqual([0.5, 0.25, 0, 1.25]);
    expect(costs(0.5, undefined, 0.75)).toEqual([0.5, undefined, 0.25]);
  });

  it('[S50] are not counted twice when a resumed process continues the total, and start again when it falls', () => {
    expect(costs(0.0448, 0.0703)).toEqual([0.0448, 0.0255]);
    expect(costs(0.0363, 0.0206, 0.03)).toEqual([0.0363, 0.0206, 0.0094]);
  });

  it('[S50] continue from a snapshot, in the process that takes over', () => {
    const before = new Translator();
    before.translate(result({ total_cost_usd: 0.0448, modelUsage: { opus: usage(100, 20) } }));
    const after = Translator.restore(JSON.parse(JSON.stringify(before.snapshot())));
    const [turn] = after.translate(result({ total_cost_usd: 0.0703, modelUsage: { opus: usage(150, 25) } }));
    expect(turn).toMatchObject({ inputTokens: 50, outputTokens: 5 });
    expect((turn as TurnComplete).costUsd).toBeCloseTo(0.0255, 10);
  });

  it('[S50] have tokens of all models together, per turn, and the widest context', () => {
    const turns = translate([
      result({ modelUsage: { opus: usage(100, 20) } }),
      result({ modelUsage: { opus: usage(150, 30), haiku: usage(7, 3, 1_000_000) } }),
      result({ modelUsage: { opus: usage(20, 5), haiku: usage(8, 4) } }),
    ]);
    expect(turns).toMatchObject([
      { inputTokens: 111, outputTokens: 20, contextWindow: 200_000 },
      { inputTokens: 50 + 18, outputTokens: 13, contextWindow: 1_000_000, usage: { cacheReadTokens: 10 } },
      { inputTokens: 31 + 1, outputTokens: 6 },
    ]);
  });

  it('[S50] have the tokens of the main agent separately', () => {
    const wire = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 };
    expect(complete({ usage: wire })).toMatchObject({
      mainUsage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheCreationTokens: 4 },
    });
  });
});

function complete(fields: object): object | undefined {
  return translate([result(fields)]).find((event) => event.type === 'turn_complete');
}
