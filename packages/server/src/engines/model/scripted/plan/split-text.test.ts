import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { atOnce } from '../../../../base/in-slices.ts';
import { limits } from '../limits.ts';
import { splitJson as splitJsonInSlices, splitText as splitInSlices } from './split-text.ts';

const splitText = (text: string, chunks: number | undefined) => atOnce(splitInSlices(text, chunks));
const splitJson = (json: string) => atOnce(splitJsonInSlices(json));

it('[K9] by default a text comes word by word, each with the space after it', () => {
  expect(splitText('Three areas  to check.\n', undefined)).toEqual(['Three ', 'areas  ', 'to ', 'check.\n']);
  expect(splitText('  a', undefined)).toEqual(['  ', 'a']);
  expect(splitText('', undefined)).toEqual([]);
});

it('[K9] chunks are about equally long, and no more than there are characters', () => {
  expect(splitText('abcdefg', 3)).toEqual(['ab', 'cd', 'efg']);
  expect(splitText('ab', 6)).toEqual(['a', 'b']);
  expect(splitText('👩🚀', 2)).toEqual(['👩', '🚀']);
  expect(splitText('', 3)).toEqual([]);
});

it('[K9] the pieces are the text, none is empty, and no character is cut in two', () => {
  const chunks = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), chunks, (text, count) => {
      const pieces = splitText(text, count);
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece !== '' && !/\p{Surrogate}/u.test(piece))).toBe(true);
      if (count !== undefined) expect(pieces.length).toBeLessThanOrEqual(count);
    }),
  );
});

it('[K8] the input of a call begins with an empty piece, as in the real API', () => {
  expect(splitJson('{}')).toEqual(['', '{}']);
  const json = JSON.stringify({ command: 'x'.repeat(100) });
  expect(splitJson(json).length).toBeGreaterThan(3);
  expect(splitJson(json).join('')).toBe(json);
});

it('[K22] a text has no more deltas than allowed, however many words it has', () => {
  const words = (count: number) => splitText('a '.repeat(count), undefined).length;
  expect([words(limits.chunksMax), words(limits.chunksMax + 1)]).toEqual([limits.chunksMax, limits.chunksMax]);
  expect(splitJson('x'.repeat(1_000_000))).toHaveLength(limits.chunksMax + 1);
});
