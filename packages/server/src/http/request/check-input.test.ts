import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { json } from '../schemas/common.ts';
import { checkInput } from './check-input.ts';

const kinds = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().max(3) }),
  z.strictObject({ type: z.literal('count'), count: z.int().min(1) }),
]);

const schema = z.strictObject({
  id: z.string().regex(/^a+$/).exactOptional(),
  level: z.enum(['low', 'high']).exactOptional(),
  kinds: z.array(kinds).min(1).max(2).exactOptional(),
  either: z
    .union([z.string(), z.strictObject({ id: z.string(), deep: z.strictObject({ level: z.enum(['low']) }) })])
    .exactOptional(),
  pairs: z.record(z.string().max(2), z.string()).exactOptional(),
  own: z
    .array(z.string())
    .refine((list) => new Set(list).size === list.length, {
      error: 'repeats itself',
      params: { advice: 'name each once' },
    })
    .exactOptional(),
  plain: z
    .string()
    .refine((text) => text !== 'x', { error: 'cannot be x' })
    .exactOptional(),
});

function faultOf(value: unknown): string {
  try {
    checkInput('things.create', schema, value);
    return 'none';
  } catch (error) {
    return (error as Error).message.replace(/^things\.create: /, '');
  }
}

describe('what is wrong with a value', () => {
  const cases: [value: unknown, fault: string][] = [
    [{}, 'none'],
    ['text', 'is not an object: send an object'],
    [null, 'is not an object: send an object'],
    [[], 'is not an object: send an object'],
    [{ id: 1 }, 'id: is not a string: send a string'],
    [{ id: 'b' }, 'id: has the wrong form: use /^a+$/'],
    [{ level: 'x' }, 'level: has a value that is not known here: use "low" or "high"'],
    [{ kinds: [] }, 'kinds: is too little: at least 1 entries'],
    [{ kinds: [1] }, 'kinds.0: is not an object: send an object'],
    [{ kinds: [1, 2, 3] }, 'kinds: is too much: at most 2 entries'],
    [{ kinds: [{ type: 'text', text: 'long' }] }, 'kinds.0.text: is too much: at most 3 characters'],
    [{ kinds: [{ type: 'count', count: 0 }] }, 'kinds.0.count: is too little: at least 1'],
    [{ kinds: [{ type: 'count', count: 1.5 }] }, 'kinds.0.count: is not a whole number: send a whole number'],
    [{ kinds: [{ type: 'count' }] }, 'kinds.0.count: is missing: add it: a number'],
    [{ kinds: [{ type: 'other' }] }, 'kinds.0.type: has a value that is not known here: use "text" or "count"'],
    [{ kinds: [{}] }, 'kinds.0.type: is missing: add it: "text" or "count"'],
    [{ kinds: [{ type: 'text', text: 'a', more: 1 }] }, 'kinds.0.more: is not known here: leave it out'],
    [{ either: 1 }, 'either: has the wrong type: send a string or an object'],
    [{ either: {} }, 'either.id: is missing: add it: a string'],
    [{ either: { id: 'a', deep: { level: 'x' } } }, 'either.deep.level: has a value that is not known here: use "low"'],
    [{ pairs: { abc: 'd' } }, 'pairs.abc: is too much: at most 2 characters'],
    [{ pairs: { a: null } }, 'pairs.a: is not a string: send a string'],
    [{ own: ['a', 'a'] }, 'own: repeats itself: name each once'],
    [{ plain: 'x' }, 'plain: cannot be x: correct it'],
    [{ [`${'k'.repeat(99)}long`]: 1 }, `${'k'.repeat(99)}…: is not known here: leave it out`],
    [JSON.parse('{"__proto__": 1}'), '__proto__: is not known here: leave it out'],
  ];

  it('[H15] is reported with its field, and with what to do', () => {
    for (const [value, fault] of cases) expect([value, faultOf(value)]).toEqual([value, fault]);
  });
});

it('[H145] JSON of any form is accepted without a look at each of its values, and must not be missing', () => {
  const schema = z.strictObject({ input: json });
  const input = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`k${at}`, { a: [1, 'x', null] }]));
  const { user } = process.cpuUsage();
  expect(checkInput('things.create', schema, { input }).input).toBe(input);
  expect((process.cpuUsage().user - user) / 1_000).toBeLessThan(10);
  expect(checkInput('things.create', schema, { input: null })).toEqual({ input: null });
  expect(() => checkInput('things.create', schema, {})).toThrow('things.create: input: ');
});
