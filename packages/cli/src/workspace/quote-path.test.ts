import { expect, it } from 'vitest';
import { drawStat } from './draw-stat.ts';
import { quotePath } from './quote-path.ts';

it('[Y231] names with line breaks, tabs and quotation marks are quoted in --stat, and every file has one line', () => {
  const names = ['a\nb', 'tab\there', 'say "hi"', 'back\\slash', 'two  spaces', 'bell\u0007', 'caf\\xe9'];
  expect(names.map(quotePath)).toEqual([
    '"a\\nb"',
    '"tab\\there"',
    '"say \\"hi\\""',
    'back\\slash',
    'two  spaces',
    '"bell\\007"',
    'caf\\xe9',
  ]);
  expect(quotePath('\u001b[31mred\n')).toBe('"\\033[31mred\\n"');
  const files = names.map((path) => ({ path, status: 'added' as const, added: 1, removed: 0 }));
  const counts = { files_count: files.length, lines_added: files.length, lines_removed: 0 };
  const lines = drawStat({ ...counts, files }, { paint: (text) => text, width: 80 });
  expect([lines.length, lines[0], lines.some((line) => line.includes('\n'))]).toEqual([
    files.length + 1,
    ` A ${'"a\\nb"'.padEnd(Math.max(...names.map((name) => quotePath(name).length)))} |    1 +`,
    false,
  ]);
});
