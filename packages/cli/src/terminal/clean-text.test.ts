import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanLine } from '@fleetloom/protocol/text';
import { cleanText } from './clean-text.ts';

const ESC = '\u001b';

describe('cleanText', () => {
  it.each([
    ['colours', `a${ESC}[31;1mred${ESC}[0m`, 'a⟦ESC⟧[31;1mred⟦ESC⟧[0m'],
    ['a cursor that climbs and erases', `x${ESC}[3A${ESC}[2Kforged`, 'x⟦ESC⟧[3A⟦ESC⟧[2Kforged'],
    ['a window title', `x${ESC}]0;owned\u0007y`, 'x⟦ESC⟧]0;owned⟦U+0007⟧y'],
    [
      'a link',
      `${ESC}]8;;http://evil${ESC}\\text${ESC}]8;;${ESC}\\`,
      '⟦ESC⟧]8;;http://evil⟦ESC⟧\\text⟦ESC⟧]8;;⟦ESC⟧\\',
    ],
    ['a device control string', `${ESC}P$q"p${ESC}\\x`, '⟦ESC⟧P$q"p⟦ESC⟧\\x'],
    ['eight bit forms', 'a\u009b31mb\u009d0;t\u009cc', 'a⟦U+009B⟧31mb⟦U+009D⟧0;t⟦U+009C⟧c'],
    ['a full reset and a character set', `${ESC}c${ESC}(0x`, '⟦ESC⟧c⟦ESC⟧(0x'],
    ['a bell, a backspace, a delete', 'a\u0007b\u0008c\u007f', 'a⟦U+0007⟧b⟦U+0008⟧c⟦U+007F⟧'],
    ['a carriage return that would overwrite the line', 'harmless\rEVIL', 'harmless⟦CR⟧EVIL'],
    ['other line ends', 'a\r\nb\u2028c\u0085d\u000be', 'a\nb⟦U+2028⟧c⟦U+0085⟧d⟦U+000B⟧e'],
    ['text that is reordered', 'abc\u202edef\u2066g\u2069', 'abc⟦RLO⟧def⟦LRI⟧g⟦PDI⟧'],
    ['invisible tags', 'a\u{e0041}\u{e0042}b', 'a⟦U+E0041⟧⟦U+E0042⟧b'],
    ['half a pair', 'a\ud83d', 'a⟦U+D83D⟧'],
    ['a sequence without an end', `a${ESC}]0;open`, 'a⟦ESC⟧]0;open'],
    ['a lone escape', `a${ESC}`, 'a⟦ESC⟧'],
  ])('[C5] %s', (_, hostile, clean) => {
    expect(cleanText(hostile)).toBe(clean);
  });

  it('[C5] ordinary text of any script stays as it is', () => {
    const text = 'Grüße, 世界 — 👩‍👩‍👧 ok\n  indented';
    expect(cleanText(text)).toBe(text);
    expect(cleanLine(' a\n\tb  c ')).toBe('a b c');
  });

  it('[C5] any input becomes only printable characters and line feeds', () => {
    const pieces = fc.constantFrom(
      ESC,
      '[',
      ']',
      '\u009b',
      'P',
      '0;',
      'm',
      '\u0007',
      '\\',
      '\u0000',
      '\n',
      'x',
      '\u202e',
    );
    const hostile = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(pieces).map((all) => all.join('')),
    );
    fc.assert(
      fc.property(hostile, (text) => {
        // oxlint-disable-next-line no-control-regex -- they are what is looked for
        expect(cleanText(text)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
        expect(cleanLine(text)).not.toContain('\n');
      }),
    );
  });

  it('[C28] nothing of an approved input is dropped: different inputs look different', () => {
    expect(cleanText(`rm ${ESC}[8m-rf /${ESC}[0m`)).toBe('rm ⟦ESC⟧[8m-rf /⟦ESC⟧[0m');
    expect(cleanLine('cat a\u200b\u202e.txt\r\n\tnext')).toBe('cat a⟦ZWSP⟧⟦RLO⟧.txt next');
    const unit = fc.constantFrom('a', ' ', ESC, '[31m', '\u200b', '\u202e', '\u0007', '\ufeff', '\u{e0041}');
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (one, other) => {
        expect(cleanText(one) === cleanText(other)).toBe(one === other);
      }),
    );
  });

  it('[C5] a long hostile text takes time in proportion to its length', () => {
    const startedAt = performance.now();
    for (const piece of [`${ESC}]`, `${ESC}[1`, `${ESC}[`, `${ESC}P`, '\u009d', `${ESC} `])
      cleanText(piece.repeat(200_000));
    // Anything quadratic would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
