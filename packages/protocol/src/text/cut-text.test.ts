import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertProperty } from '../../../../test/support/seed.ts';
import { cutText, cutTextStart } from './cut-text.ts';

it.each([
  ['🙂', 0, ''],
  ['🙂', 1, ''],
  ['🙂', 2, '🙂'],
  ['a🙂b', 2, 'a'],
  ['a🙂b', 3, 'a🙂'],
  ['abc', 9, 'abc'],
  ['\ud83d', 1, '\ud83d'],
  ['\ude42\ud83d', 1, '\ude42'],
])('[D10] the first characters of %j, at most %i, are %j', (text, charsMax, cut) => {
  expect(cutText(text, charsMax)).toBe(cut);
});

it.each([
  ['🙂', 0, ''],
  ['🙂', 1, ''],
  ['🙂', 2, '🙂'],
  ['a🙂b', 2, 'b'],
  ['a🙂b', 3, '🙂b'],
  ['abc', 9, 'abc'],
])('[D10] the last characters of %j, at most %i, are %j', (text, charsMax, cut) => {
  expect(cutTextStart(text, charsMax)).toBe(cut);
});

it('[D10] a text that is Unicode stays Unicode wherever it is cut, and loses at most one character more', () => {
  assertProperty(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, charsMax) => {
      for (const cut of [cutText(text, charsMax), cutTextStart(text, charsMax)]) {
        expect(cut).not.toMatch(/\p{Surrogate}/u);
        expect(cut.length).toBeLessThanOrEqual(charsMax);
        expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, charsMax) - 1);
      }
      expect(text.startsWith(cutText(text, charsMax)) && text.endsWith(cutTextStart(text, charsMax))).toBe(true);
    }),
    1_000,
  );
});
