import { describe, expect, it } from 'vitest';
import { textLimits } from './limits.ts';
import { createRandom } from '../../model/sample-log.suite.ts';
import {
  formatAge,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatSpan,
  plural,
} from '../../model/format.ts';
import { cleanLine, cleanText, hasHidden } from '@fleetloom/protocol/text';
import { highlightShell } from './highlight-shell.ts';
import { toPieces } from './pieces.ts';
import { settledLength } from './split-blocks.ts';

describe('untrusted text', () => {
  it('[Z20] characters that reverse, hide or move text are shown by name', () => {
    expect(cleanText('a\u202eb\u2066c\u200bd\u001b[31m')).toBe('a⟦RLO⟧b⟦LRI⟧c⟦ZWSP⟧d⟦ESC⟧[31m');
    expect(cleanText('\u{e0041}\ufeff\u0007')).toBe('⟦U+E0041⟧⟦BOM⟧⟦U+0007⟧');
    expect(cleanText('Grüße 日本 👩 العربية\n\tok')).toBe('Grüße 日本 👩 العربية\n\tok');
    expect(cleanLine('a\n b\tc')).toBe('a b c');
    expect([hasHidden('a\u2069'), hasHidden('plain')]).toEqual([true, false]);
  });

  it('[Z21] highlighting a command does not change a character', () => {
    const random = createRandom(9);
    const signs = ['ls', ' ', '-la', '"', "'", '|', '&&', ';', '$HOME', '#', '\n', '\\', '>', '(', 'ü', '\t', '${x}'];
    for (let round = 0; round < 500; round++) {
      const text = Array.from(
        { length: Math.floor(random() * 20) },
        () => signs[Math.floor(random() * signs.length)],
      ).join('');
      expect(
        highlightShell(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
    }
    const kinds = highlightShell('rm -rf "a b" && cat $X # why').map(({ kind, text }) => `${kind} ${text}`);
    expect(kinds).toEqual(
      expect.arrayContaining([
        'command rm',
        'option -rf',
        'text "a b"',
        'sign &&',
        'command cat',
        'variable $X',
        'comment # why',
      ]),
    );
  });

  it('[Z22] the settled part of a growing text ends after an empty line outside code, and never shrinks', () => {
    const text = 'One\n\nTwo\n```\ncode\n\nmore\n```\n\nThree';
    const ends = Array.from({ length: text.length + 1 }, (_, length) => settledLength(text.slice(0, length)));
    expect(ends.at(-1)).toBe(text.indexOf('Three'));
    expect(settledLength('```\na\n\nb\n')).toBe(0);
    expect(settledLength('~~~\n```\n\n~~~\n\nx')).toBe(14);
    for (const [index, end] of ends.entries()) expect(end).toBeGreaterThanOrEqual(ends[index - 1] ?? 0);
  });

  it('[Z27] the pieces of a long text join to the text and do not split a character', () => {
    const text = '😀'.repeat(textLimits.pieceCharsMax) + 'line\n'.repeat(textLimits.pieceCharsMax);
    const pieces = toPieces(text);
    expect(pieces.join('')).toBe(text);
    expect(pieces.every((piece) => piece.length <= textLimits.pieceCharsMax && !/[\ud800-\udbff]$/.test(piece))).toBe(
      true,
    );
    expect(toPieces('')).toEqual([]);
    expect(toPieces('x'.repeat(textLimits.pieceCharsMax))).toHaveLength(1);
    expect(toPieces('x'.repeat(textLimits.pieceCharsMax + 1))).toHaveLength(2);
  });
});

it('[Z26] numbers are short and keep their width', () => {
  expect([0, 59_999, 60_000, 3_599_000, 3_600_000, 200_000_000].map(formatDuration)).toEqual([
    '0 s',
    '59 s',
    '1 min 00 s',
    '59 min 59 s',
    '1 h 00',
    '2 d 7 h',
  ]);
  expect([0, 61_000, 7_200_000, 300_000_000].map(formatAge)).toEqual(['0s', '1m', '2h', '3d']);
  expect([5, 1_234, 61_000].map(formatSpan)).toEqual(['5 ms', '1.2 s', '1 min 01 s']);
  expect([0, 999, 1_000, 99_949, 99_950, 999_499, 999_500].map(formatCount)).toEqual([
    '0',
    '999',
    '1.0k',
    '100k',
    '100k',
    '999k',
    '1.0M',
  ]);
  expect([0, 0.0012, 0.5, 99.999, 250].map(formatCost)).toEqual(['$0.00', '$0.0012', '$0.50', '$100.00', '$250.00']);
  expect([10, 2_048, 3_145_728].map(formatBytes)).toEqual(['10 B', '2.0 KB', '3.0 MB']);
  expect([plural(1, 'thread'), plural(1_200, 'thread')]).toEqual(['1 thread', '1,200 threads']);
});
