import { describe, expect, it } from 'vitest';
import { z } from 'zod';
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
    ['text', 'is no object: send an object'],
    [null, 'is no object: send an object'],
    [[], 'is no object: send an object'],
    [{ id: 1 }, 'id: is no string: send a string'],
    [{ id: 'b' }, 'id: has the wrong form: use /^a+$/'],
    [{ level: 'x' }, 'level: has a value that is not known here: use "low" or "high"'],
    [{ kinds: [] }, 'kinds: is too little: at least 1 entries'],
    [{ kinds: [1] }, 'kinds.0: is no object: send an object'],
    [{ kinds: [1, 2, 3] }, 'kinds: is too much: at most 2 entries'],
    [{ kinds: [{ type: 'text', text: 'long' }] }, 'kinds.0.text: is too much: at most 3 characters'],
    [{ kinds: [{ type: 'count', count: 0 }] }, 'kinds.0.count: is too little: at least 1'],
    [{ kinds: [{ type: 'count', count: 1.5 }] }, 'kinds.0.count: is no whole number: send a whole number'],
    [{ kinds: [{ type: 'count' }] }, 'kinds.0.count: is missing: add it: a number'],
    [{ kinds: [{ type: 'other' }] }, 'kinds.0.type: has a value that is not known here: use "text" or "count"'],
    [{ kinds: [{}] }, 'kinds.0.type: is missing: add it: "text" or "count"'],
    [{ kinds: [{ type: 'text', text: 'a', more: 1 }] }, 'kinds.0.more: is not known here: leave it out'],
    [{ either: 1 }, 'either: has the wrong type: send a string or an object'],
    [{ either: {} }, 'either.id: is missing: add it: a string'],
    [{ either: { id: 'a', deep: { level: 'x' } } }, 'either.deep.level: has a value that is not known here: use "low"'],
    [{ pairs: { abc: 'd' } }, 'pairs.abc: is too much: at most 2 characters'],
    [{ pairs: { a: null } }, 'pairs.a: is no string: send a string'],
    [{ own: ['a', 'a'] }, 'own: repeats itself: name each once'],
    [{ plain: 'x' }, 'plain: cannot be x: correct it'],
    [{ [`${'k'.repeat(99)}long`]: 1 }, `${'k'.repeat(99)}…: is not known here: leave it out`],
    [JSON.parse('{"__proto__": 1}'), '__proto__: is not known here: leave it out'],
  ];

  it('[H15] is said with its field, and with what to do', () => {
    for (const [value, fault] of cases) expect([value, faultOf(value)]).toEqual([value, fault]);
  });
});
