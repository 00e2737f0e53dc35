import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertProperty } from '../../../../../../test/support/seed.ts';
import { atOnce } from '../../../base/in-slices.ts';
import { digest, digestPieces } from './digest.ts';
import { type Json, mapStrings, writeCanonical } from './json.ts';
import { createScriptedModel } from './model.ts';

it('[K39] a value written and hashed in pieces is the same as at once, keys sorted', () => {
  // Texts of about a piece, and of several, with pairs and escapes where pieces meet.
  const long = fc
    .tuple(fc.nat(3), fc.constantFrom('x', '"', '👩', '\ud83d', 'é\u0001'), fc.integer({ min: 65_000, max: 66_000 }))
    .map(([shift, unit, count]) => 'a'.repeat(shift) + unit.repeat(Math.ceil(count / unit.length)));
  const text = fc.oneof({ weight: 20, arbitrary: fc.string({ unit: 'binary' }) }, { weight: 1, arbitrary: long });
  const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom(null, true, false, 0, -0, 1.5e300),
      text,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.constantFrom('content', 'cache_control', '__proto__'), fc.string()), tie('value'), {
        maxKeys: 4,
      }),
    ),
  }));
  assertProperty(
    fc.property(json, fc.boolean(), (value, isComparable) => {
      const written = atOnce(writeCanonical(value, { isComparable }));
      const whole = canonical(isComparable ? toComparable(value) : value);
      expect(written.pieces.join('')).toBe(whole);
      expect(written.chars).toBe(whole.length);
      expect(atOnce(digestPieces('messages', written))).toBe(digest('messages', whole));
    }),
  );
});

it('[K39] thousands of keys are sorted as a few are', () => {
  const keys = Array.from({ length: 5_000 }, (_, at) => `${(at * 7_919) % 10_007}é`);
  const value = Object.fromEntries(keys.map((key) => [key, 1]));
  expect(atOnce(writeCanonical(value)).pieces.join('')).toBe(canonical(value));
});

it('[K39] the ids of answers to long conversations are those of earlier versions', async () => {
  const model = createScriptedModel();
  const ask = async (content: string) => {
    const messages = [{ role: 'user', content }];
    const { requestId, items } = await model.plan({ model: 'scripted/echo', max_tokens: 1, stream: true, messages });
    return [requestId, items.length];
  };
  expect(await ask('x'.repeat(300_000))).toEqual(['req_01awr4eZ13Wu3r4KVb61VFCh', 7]);
  expect(await ask('a "word" é 👩 \ud800 '.repeat(30_000))).toEqual(['req_01ZGhAaZsiJt9YrtHhhq63Vb', 10_006]);
});

it('[K7] strings are replaced wherever they are, and keys stay', () => {
  const value = { a: ['b', { a: 'b', c: 1 }], b: null };
  const replace = function* (text: string) {
    yield;
    return `${text}${text}`;
  };
  expect(atOnce(mapStrings(value, replace))).toEqual({ a: ['bb', { a: 'bb', c: 1 }], b: null });
});

/** As it was before it was written in pieces. */
function canonical(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`;
}

function toComparable(value: Json, key = ''): Json {
  if (key === 'content' && typeof value === 'string') return [{ type: 'text', text: value }];
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => toComparable(item));
  const entries = Object.entries(value).filter(([name]) => name !== 'cache_control');
  return Object.fromEntries(entries.map(([name, item]) => [name, toComparable(item, name)]));
}
