import { beforeAll, describe, expect, it } from 'vitest';
import { loadTextWidth, textWidth } from '../terminal/text-width.ts';
import { endOfText } from './end-of-text.ts';

beforeAll(loadTextWidth);

const end = (text: string, width: number, ellipsis = '…') =>
  endOfText({ tail: text, length: text.length }, width, ellipsis);

describe("the end of an agent's text", () => {
  it('[Y81] a text that fits is shown whole on one line; of a longer one the end is shown from a word boundary, with a mark', () => {
    expect(end('one two\nthree', 13)).toBe('one two three');
    expect(end('one two\nthree', 12)).toBe('…two three');
    expect(end('one two\nthree', 9)).toBe('…three');
    expect(end('one two three', 12, '...')).toBe('...two three');
    // One long word has no other beginning.
    expect(end('x'.repeat(40), 10)).toBe(`…${'x'.repeat(9)}`);
  });

  it('[Y81] where only the end is kept, its first word may be half of one', () => {
    expect(endOfText({ tail: 'n, and the same', length: 400 }, 60, '…')).toBe('…and the same');
    expect(endOfText({ tail: 'same', length: 400 }, 60, '…')).toBe('…same');
  });

  it('[Y81] it fits any width in any alphabet', () => {
    for (const text of ['漢字 '.repeat(50), '👩‍👩‍👧 '.repeat(50), 'plain words '.repeat(50), '']) {
      for (let width = 0; width < 40; width += 1) {
        for (const ellipsis of ['…', '...'])
          expect(textWidth(end(text, width, ellipsis))).toBeLessThanOrEqual(Math.max(0, width));
      }
    }
  });
});
