import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleanLine, cleanText } from './clean-text.ts';

it('[F86] nothing is dropped but the CR of a CRLF: colours, bidirectional and zero-width characters have their names', () => {
  expect(cleanText('rm \u001b[8m-rf /\u001b[0m')).toBe('rm ⟦ESC⟧[8m-rf /⟦ESC⟧[0m');
  expect(cleanText('a\u202eb\u200bc\r\nd\re')).toBe('a⟦RLO⟧b⟦ZWSP⟧c\nd⟦CR⟧e');
  expect(cleanText('Grüße 日本 👩‍👩‍👧 العربية\n\tok')).toBe('Grüße 日本 👩‍👩‍👧 العربية\n\tok');
});

it('[F86] on one line, runs of white space become one blank', () => {
  expect(cleanLine(' a\n\tb  c\r\n')).toBe('a b c');
  expect(cleanLine('a\u2028b')).toBe('a⟦U+2028⟧b');
});

it('[F86] two texts that differ look different', () => {
  const unit = fc.constantFrom('a', ' ', '\u001b', '[31m', '\u200b', '\u202e', '\u0007', '\ufeff', '\u{e0041}', '\r');
  fc.assert(
    fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
      expect(cleanText(one) === cleanText(other)).toBe(one === other);
    }),
  );
});
