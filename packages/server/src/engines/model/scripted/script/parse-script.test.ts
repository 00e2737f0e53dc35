import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../../../../base/in-slices.ts';
import { limits } from '../limits.ts';
import { compileMatch } from './match-text.ts';
import { parseScript as parseInSlices } from './parse-script.ts';

const parseScript = (text: string, format: 'json' | 'yaml') => atOnce(parseInSlices(text, format));

describe('a good script', () => {
  it('[K4] every kind of step is read, with its defaults', () => {
    expect(stepsOf([{ think: 'Hm.' }])).toEqual([{ type: 'think', text: 'Hm.', chunks: undefined, everyMs: 0 }]);
    expect(stepsOf([{ say: '', chunks: 6, every_ms: 2.5 }])).toEqual([
      { type: 'say', text: '', chunks: 6, everyMs: 2.5 },
    ]);
    expect(stepsOf([{ call: 'bash' }])).toEqual([{ type: 'call', name: 'bash', input: {} }]);
    expect(stepsOf([{ call: 'bash', input: { a: [1, null, { b: true }] } }])).toEqual([
      { type: 'call', name: 'bash', input: { a: [1, null, { b: true }] } },
    ]);
    expect(stepsOf([{ sleep_ms: 0 }])).toEqual([{ type: 'sleep', ms: 0 }]);
    expect(stepsOf([{ cut: true }, { cut: { times: 2 } }])).toEqual([
      { type: 'cut', times: undefined },
      { type: 'cut', times: 2 },
    ]);
    expect(stepsOf([{ stop: 'pause_turn' }])).toEqual([{ type: 'stop', reason: 'pause_turn' }]);
    expect(stepsOf([{ expect: { contains: 'a', tool_result: ['b', 'c'], is_error: true, tools: 'd' } }])).toEqual([
      { type: 'expect', contains: ['a'], toolResult: ['b', 'c'], isError: true, tools: ['d'] },
    ]);
    expect(stepsOf([])).toEqual([]);
  });

  it('[K10] a failure has the type of its status and happens once, unless the script sets it', () => {
    const types = [400, 401, 402, 403, 404, 409, 413, 418, 429, 500, 503, 504, 529].map((status) => {
      const [step] = stepsOf([{ fail: { status } }]) ?? [];
      return step?.type === 'fail' ? `${status} ${step.errorType} ${step.times}` : undefined;
    });
    expect(types).toEqual([
      '400 invalid_request_error 1',
      '401 authentication_error 1',
      '402 billing_error 1',
      '403 permission_error 1',
      '404 not_found_error 1',
      '409 conflict_error 1',
      '413 request_too_large 1',
      '418 invalid_request_error 1',
      '429 rate_limit_error 1',
      '500 api_error 1',
      '503 api_error 1',
      '504 timeout_error 1',
      '529 overloaded_error 1',
    ]);
    expect(stepsOf([{ fail: { status: 429, type: 'own', message: 'Later.', times: 3, retry_after_s: 0.5 } }])).toEqual([
      { type: 'fail', status: 429, errorType: 'own', message: 'Later.', times: 3, retryAfterS: 0.5, inStream: false },
    ]);
    expect(stepsOf([{ fail: { status: 500, in_stream: true } }])).toMatchObject([{ status: 500, inStream: true }]);
  });

  it('[K4] YAML is equivalent to JSON', () => {
    const yaml =
      'turns:\n  - - think: Let me look.\n    - {call: bash, input: {command: ls}}\nusage: {input_tokens: 7}\n';
    const json =
      '{"usage":{"input_tokens":7},"turns":[[{"think":"Let me look."},{"input":{"command":"ls"},"call":"bash"}]]}';
    expect(parseScript(yaml, 'yaml')).toEqual(parseScript(json, 'json'));
    expect(parseScript(yaml, 'yaml').type).toBe('script');
  });

  it('[K6] when and else are read, and else may be absent', () => {
    const parsed = parseScript('{"when":[{"match":"^a","turn":[]}]}', 'json');
    expect(parsed).toMatchObject({
      script: { type: 'when', cases: [{ match: '^a', turn: [] }], otherwise: undefined },
    });
    expect(parseScript('{"when":[{"match":"a","turn":[]}],"else":[]}', 'json')).toMatchObject({
      script: { otherwise: [] },
    });
  });
});

describe('a bad script', () => {
  it('[K4] an invalid part of a script is named with its position', () => {
    const problems: [value: unknown, problem: string][] = [
      [null, ': must be an object, got null'],
      [[], ': must be an object, got a list'],
      [{}, ': needs `turns`, a list of turns, or `when`, a list of cases'],
      [{ turn: [] }, 'turn: is unknown here; known: turns, when, else, usage'],
      [{ turns: [] }, 'turns: must have at least 1 entry'],
      [{ turns: {} }, 'turns: must be a list, got an object'],
      [{ turns: [[], { say: 'a' }] }, 'turns[1]: must be a list, got an object'],
      [{ turns: [[]], else: [] }, 'else: goes with `when`, and there is none'],
      [{ turns: [[]], when: [] }, 'turns: stands beside `when`; keep one of them'],
      [{ when: [{ match: '(', turn: [] }] }, 'when[0].match: must be a regular expression: '],
      [{ when: [{ turn: [] }] }, 'when[0].match: is missing, and must be a string'],
      [{ when: [{ match: 'a' }] }, 'when[0].turn: is missing, and must be a list'],
      [{ when: [{ match: 'a', turn: [], say: 'a' }] }, 'when[0].say: is unknown here; known: match, turn'],
      [{ when: [{ match: 'a', turn: [] }], else: [{ cut: false }] }, 'else[0].cut: must be true, or { "times": n }'],
      [{ turns: [[]], usage: { output_tokens: 1.5 } }, 'usage.output_tokens: must be a whole number, got 1.5'],
      [{ turns: [[]], usage: { tokens: 1 } }, 'usage.tokens: is unknown here; known: input_tokens, output_tokens'],
    ];
    for (const [value, problem] of problems) expect(problemOf(value)).toContain(problem);
  });

  it('[K4] in a step it is named to the field', () => {
    const problems: [step: unknown, problem: string][] = [
      ['say', 'turns[0][2]: must be an object, got a string'],
      [{}, 'turns[0][2]: is an empty step; known: think, say, call, sleep_ms, fail, cut, stop, expect'],
      [{ saay: 'a' }, 'turns[0][2].saay: is not a step; known steps: think, say'],
      [{ say: 'a', call: 'b' }, 'turns[0][2]: is say and call at once; make each a step of its own'],
      [{ say: 1 }, 'turns[0][2].say: must be a string, got a number'],
      [{ say: null }, 'turns[0][2].say: must be a string, got null'],
      [{ say: 'a', chunks: 0 }, 'turns[0][2].chunks: must be from 1 to 10000, got 0'],
      [{ say: 'a', every: 1 }, 'turns[0][2].every: is unknown here; known: say, chunks, every_ms'],
      [{ say: 'a', input: {} }, 'turns[0][2].input: is unknown here'],
      [{ call: '' }, 'turns[0][2].call: must not be empty'],
      [{ call: 3 }, 'turns[0][2].call: must be a string, got a number'],
      [{ call: 'a', input: [] }, 'turns[0][2].input: must be an object, got a list'],
      [{ sleep_ms: -1 }, 'turns[0][2].sleep_ms: must be from 0 to 600000, got -1'],
      [{ sleep_ms: '5' }, 'turns[0][2].sleep_ms: must be a number, got a string'],
      [{ fail: 529 }, 'turns[0][2].fail: must be an object, got a number'],
      [{ fail: {} }, 'turns[0][2].fail.status: is missing, and must be a number'],
      [{ fail: { status: 200 } }, 'turns[0][2].fail.status: must be from 400 to 599, got 200'],
      [{ fail: { status: 500, times: 0 } }, 'turns[0][2].fail.times: must be from 1 to 1000, got 0'],
      [{ fail: { status: 500, after: 1 } }, 'turns[0][2].fail.after: is unknown here'],
      [{ cut: { times: true } }, 'turns[0][2].cut.times: must be a number, got true'],
      [{ stop: 'enough' }, 'turns[0][2].stop: must be one of end_turn, max_tokens'],
      [{ expect: {} }, 'turns[0][2].expect: expects nothing'],
      [{ expect: { contains: [1] } }, 'turns[0][2].expect.contains[0]: must be a string, got a number'],
      [{ expect: { contains: 1 } }, 'turns[0][2].expect.contains: must be a string or a list of strings, got a number'],
      [{ expect: { is_error: 'no' } }, 'turns[0][2].expect.is_error: must be true or false, got a string'],
    ];
    for (const [step, problem] of problems) {
      expect(problemOf({ turns: [[{ say: 'a' }, { say: 'b' }, step]] })).toContain(problem);
    }
  });

  it('[K3] text that is neither JSON nor YAML is reported as a problem', () => {
    expect(parseScript('{"turns": [', 'json')).toMatchObject({ type: 'problem', path: '' });
    expect(parseScript('{"turns": [', 'json')).toMatchObject({
      message: expect.stringMatching(/^is not valid JSON: /),
    });
    expect(parseScript('turns: [', 'yaml')).toMatchObject({
      message: expect.stringMatching(/^is not valid YAML: .*line 1/s),
    });
    expect(parseScript('turns: [[{call: a, input: {b: .inf}}]]', 'yaml')).toEqual({
      type: 'problem',
      path: 'turns[0][0].input.b',
      message: 'must be JSON, got Infinity',
    });
  });

  it('[K3] a YAML text that would unfold to billions of entries is refused at once', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let at = 1; at < 12; at++)
      lines.push(
        `a${at}: &a${at} [${Array(10)
          .fill(`*a${at - 1}`)
          .join(', ')}]`,
      );
    expect(parseScript(lines.join('\n'), 'yaml').type).toBe('problem');
  });

  it('[K3] no JSON and no text makes the checker throw, and an accepted script is accepted again', () => {
    const step = fc.dictionary(
      fc.constantFrom('say', 'think', 'call', 'input', 'fail', 'cut', 'stop', 'expect', 'sleep_ms', '__proto__'),
      fc.oneof(fc.jsonValue(), fc.constant({ status: 529 }), fc.constant(true), fc.string(), fc.nat(20)),
      { maxKeys: 2 },
    );
    const script = fc.record(
      {
        turns: fc.oneof(fc.jsonValue(), fc.array(fc.array(step))),
        when: fc.array(fc.record({ match: fc.string(), turn: fc.array(step) })),
        else: fc.array(step),
        usage: fc.oneof(fc.jsonValue(), fc.record({ input_tokens: fc.integer() })),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), script), (value) => {
        const text = JSON.stringify(value);
        const parsed = parseScript(text, 'json');
        expect(['script', 'problem']).toContain(parsed.type);
        expect(parseScript(text, 'json')).toEqual(parsed);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('json', 'yaml'), (text, format) => {
        expect(['script', 'problem']).toContain(parseScript(text, format).type);
      }),
      { numRuns: 300 },
    );
  });

  it('[K3] names that objects inherit are names like others', () => {
    expect(problemOf({ turns: [[{ constructor: 'a' }]] })).toContain('turns[0][0].constructor: is not a step');
    expect(parseScript('{"turns":[[{"__proto__":{"say":"a"}}]]}', 'json').type).toBe('problem');
    const input = parseScript('{"turns":[[{"call":"a","input":{"__proto__":{"b":1}}}]]}', 'json');
    expect(JSON.stringify(input)).toContain('"input":{"__proto__":{"b":1}}');
  });
});

describe('limits of a script', () => {
  it('[K22] turns, cases and steps are counted', () => {
    const steps = (count: number) => problemOf({ turns: [many(count, { say: 'a' })] });
    expect(steps(limits.stepsMax)).toBeUndefined();
    expect(steps(limits.stepsMax + 1)).toBe('turns[0]: has 1001 entries, and 1000 are allowed');
    const turns = (count: number) => problemOf({ turns: many(count, []) });
    expect(turns(limits.turnsMax)).toBeUndefined();
    expect(turns(limits.turnsMax + 1)).toBe('turns: has 1001 entries, and 1000 are allowed');
    const cases = (count: number) => problemOf({ when: many(count, { match: 'a', turn: [] }) });
    expect(cases(limits.turnsMax)).toBeUndefined();
    expect(cases(limits.turnsMax + 1)).toBe('when: has 1001 entries, and 1000 are allowed');
  });

  it('[K22] numbers have their range', () => {
    const edges: [max: number, toStep: (value: number) => object][] = [
      [limits.chunksMax, (chunks) => ({ say: 'a', chunks })],
      [limits.waitMsMax, (every_ms) => ({ think: 'a', every_ms })],
      [limits.waitMsMax, (sleep_ms) => ({ sleep_ms })],
      [limits.timesMax, (times) => ({ fail: { status: 500, times } })],
      [limits.timesMax, (times) => ({ cut: { times } })],
      [limits.retryAfterSMax, (retry_after_s) => ({ fail: { status: 500, retry_after_s } })],
    ];
    for (const [max, toStep] of edges) {
      expect(problemOf({ turns: [[toStep(max)]] })).toBeUndefined();
      expect(problemOf({ turns: [[toStep(max + 1)]] })).toContain(`to ${max}, got ${max + 1}`);
    }
    const usage = (input_tokens: number) => problemOf({ turns: [[]], usage: { input_tokens } });
    expect(usage(limits.tokensMax)).toBeUndefined();
    expect(usage(limits.tokensMax + 1)).toContain('usage.input_tokens: must be from 0');
  });

  it('[K36] the regular expressions of a script have 5,000 instructions together, plain texts not counted', () => {
    expect(limits.matchSizeMax).toBe(5_000);
    const size = compileMatch('[ab]{99}').size;
    const most = Math.floor(limits.matchSizeMax / size);
    const cases = (count: number) => Array.from({ length: count }, () => ({ match: '[ab]{99}', turn: [] }));
    const plain = Array.from({ length: 900 }, (_, at) => ({ match: `^plain \\(${at}\\)$`, turn: [] }));
    expect(problemOf({ when: [...plain, ...cases(most)] })).toBeUndefined();
    expect(problemOf({ when: [...plain, ...cases(most + 1)] })).toBe(
      `when[${900 + most}].match: the regular expressions up to here have ${size * (most + 1)} instructions, and 5000 are allowed: use simpler ones, or fewer cases`,
    );
  });

  it('[K36] a limited number of compiled expressions is cached, and evicted ones are compiled again', () => {
    const sources = Array.from({ length: limits.matchesKeptMax + 1 }, (_, at) => `[x]${at}`);
    const first = sources.map((source) => compileMatch(source));
    expect(compileMatch(sources.at(-1)!)).toBe(first.at(-1));
    expect(compileMatch(sources[1]!)).toBe(first[1]);
    expect(compileMatch(sources[0]!)).not.toBe(first[0]);
  });

  it.each([
    ['a(?=b)', 'look-ahead and look-behind are not supported'],
    [String.raw`(a)\1`, 'back-references are not supported'],
    ['(.?){999}', 'instructions, and 1000 are allowed'],
  ])('[K30] %j is refused with the reason: %s', (match, problem) => {
    expect(problemOf({ when: [{ match, turn: [] }] })).toContain(problem);
    expect(problemOf({ when: [{ match, turn: [] }] })).toMatch(/^when\[0\]\.match: must be a regular expression: /);
  });

  it('[K22] texts have their length, and inputs their depth', () => {
    const match = (length: number) => problemOf({ when: [{ match: 'a'.repeat(length), turn: [] }] });
    expect(match(limits.matchCharsMax)).toBeUndefined();
    expect(match(limits.matchCharsMax + 1)).toBe('when[0].match: has 1001 characters, and 1000 are allowed');

    const text = (length: number) => {
      const rest = '{"turns":[[{"say":""}]]}'.length;
      return parseScript(`{"turns":[[{"say":"${'a'.repeat(length - rest)}"}]]}`, 'json');
    };
    expect(text(limits.scriptCharsMax).type).toBe('script');
    expect(text(limits.scriptCharsMax + 1)).toMatchObject({ message: expect.stringContaining('1000001 characters') });

    const around = 4; // the script, its turns, the turn and the step
    const nested = (depth: number) => {
      const input = `${'{"a":'.repeat(depth - around - 1)}{}${'}'.repeat(depth - around - 1)}`;
      return parseScript(`{"turns":[[{"call":"a","input":${input}}]]}`, 'json');
    };
    expect(nested(limits.depthMax).type).toBe('script');
    expect(nested(limits.depthMax + 1)).toMatchObject({ message: 'is nested too deep' });
    expect(parseScript('['.repeat(400_000), 'json').type).toBe('problem');
    expect(parseScript(`${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'yaml').type).toBe('problem');
  });
});

function stepsOf(turn: unknown) {
  const parsed = parseScript(JSON.stringify({ turns: [turn] }), 'json');
  return parsed.type === 'script' && parsed.script.type === 'turns' ? parsed.script.turns[0] : undefined;
}

function many<T>(length: number, value: T): T[] {
  return Array.from({ length }, () => value);
}

function problemOf(value: unknown): string | undefined {
  const parsed = parseScript(JSON.stringify(value), 'json');
  return parsed.type === 'problem' ? `${parsed.path}: ${parsed.message}` : undefined;
}
