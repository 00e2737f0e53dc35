import * as fc from 'fast-check';
import stringWidth from 'string-width';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanText } from './clean-text.ts';
import { loadTextWidth, NARROW, textWidth, truncateText, wrapText } from './text-width.ts';

beforeAll(loadTextWidth);

const words = fc.array(
  fc.constantFrom('plain', 'wörter', '世界', '👩‍👩‍👧', 'e\u0301', '한국어', ' ', '\n', '-', 'x'.repeat(40)),
);
/** What joins with its neighbours, in any order. */
const pieces = fc
  .array(
    fc.constantFrom('ᄀ', 'ᅡ', 'ᆨ', '\u200d', '\ufe0f', '👩', '🏽', '🇩', '🇪', '\u0301', 'क', '्', 'ि', '1', '\u20e3', ' '),
  )
  .map((all) => cleanText(all.join('')));
const text = fc.oneof(
  words.map((all) => all.join(' ')),
  pieces,
  fc.string({ unit: 'grapheme' }).map(cleanText),
);

describe('text width', () => {
  it('[C16] every character of the quick path takes one column', () => {
    for (let code = 0x20; code < 0x10000; code += 1) {
      const character = String.fromCharCode(code);
      if (NARROW.test(character)) expect([code, stringWidth(character)]).toEqual([code, 1]);
    }
  });

  it('[C16] wide and joined characters are measured as the terminal draws them', () => {
    expect(textWidth('世界')).toBe(4);
    expect(textWidth('👩‍👩‍👧')).toBe(2);
    expect(textWidth('e\u0301')).toBe(1);
  });

  it('[C16] a cut text is never wider than requested, and has a mark', () => {
    expect(truncateText('hello world', 8)).toBe('hello w…');
    expect(truncateText('世界世界', 5)).toBe('世界…');
    expect(truncateText('hello', 5)).toBe('hello');
    expect(truncateText('hello', 2, '...')).toBe('..');
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 60 }), (whole, width) => {
        expect(textWidth(truncateText(whole.replaceAll('\n', ' '), width))).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('[C16] wrapped lines fit, and hold every word in order', () => {
    expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrapText('  indented code here', 12)).toEqual(['  indented', 'code here']);
    expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    // One character to the eye, and four columns wide.
    expect(wrapText('ᄀᄀ', 2)).toEqual(['ᄀ', 'ᄀ']);
    expect(wrapText('a ᄀᄀᄀ b', 4)).toEqual(['a', 'ᄀᄀ', 'ᄀ b']);
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (whole, width) => {
        const lines = wrapText(whole, width);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replace(/\s+/g, '')).toBe(whole.replace(/\s+/g, ''));
      }),
    );
  });

  it('[C16] a text of a megabyte without a blank is wrapped in time', () => {
    const startedAt = performance.now();
    expect(wrapText('世'.repeat(1_000_000), 80, 100)).toHaveLength(100);
    expect(wrapText('x'.repeat(1_000_000), 80)).toHaveLength(12_500);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
