import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasHidden, showHidden } from './show-hidden.ts';

it.each([
  ['direction', 'a\u202eb\u2066c\u061cd', 'a⟦RLO⟧b⟦LRI⟧c⟦U+061C⟧d'],
  ['no width', 'a\u200bb\u2060c\u00add\u034fe', 'a⟦ZWSP⟧b⟦U+2060⟧c⟦U+00AD⟧d⟦U+034F⟧e'],
  ['controls', 'a\u0007b\u001b[31mc\u009b2Jd\u007f', 'a⟦U+0007⟧b⟦ESC⟧[31mc⟦U+009B⟧2Jd⟦U+007F⟧'],
  ['line ends other than LF', 'a\rb\u0085c\u2028d\u000be', 'a⟦CR⟧b⟦U+0085⟧c⟦U+2028⟧d⟦U+000B⟧e'],
  ['tags and selectors that carry data', 'a\u{e0041}b\u{e0100}c\ufe01d', 'a⟦U+E0041⟧b⟦U+E0100⟧c⟦U+FE01⟧d'],
  ['fillers that look like blanks', 'a\u3164b\uffa0c\u115fd', 'a⟦U+3164⟧b⟦U+FFA0⟧c⟦U+115F⟧d'],
  ['half a pair', 'a\ud83d b\udc00', 'a⟦U+D83D⟧ b⟦U+DC00⟧'],
  ['a joiner between letters', 'a\u200db', 'a⟦ZWJ⟧b'],
  ['the byte order mark', '\ufeffa', '⟦BOM⟧a'],
])('[F60] %s is shown by name', (_, hostile, shown) => {
  expect(showHidden(hostile)).toBe(shown);
  expect(hasHidden(hostile)).toBe(true);
});

it('[F60] text of any script stays as it is, emoji included', () => {
  for (const text of ['Grüße, 世界 — العربية עברית हिन्दी', '👩‍👩‍👧 👩🏽‍🚀 ❤️ 1️⃣ 🏳️‍🌈', 'tab\tand\nline', '']) {
    expect(showHidden(text)).toBe(text);
    expect(hasHidden(text)).toBe(false);
  }
});

it('[F60] a selector that is repeated, or follows a letter, is shown', () => {
  expect(showHidden('❤\ufe0f\ufe0f')).toBe('❤\ufe0f⟦U+FE0F⟧');
  expect(showHidden('rm\ufe0f -rf')).toBe('rm⟦U+FE0F⟧ -rf');
});

it('[F60] two texts that differ look different', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('a', ' ', '\u200b', '\u202e', '\u001b', '\ufeff', '\ud800', '😀'),
  });
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      expect(showHidden(one) === showHidden(other)).toBe(one === other);
    }),
  );
});
