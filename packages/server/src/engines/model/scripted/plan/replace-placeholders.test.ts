import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { assertProperty, isLong, timeout } from '../../../../../../../test/support/seed.ts';
import { atOnce } from '../../../../base/in-slices.ts';
import { replacePlaceholders } from './replace-placeholders.ts';

const show = (text: string) => atOnce(replacePlaceholders(text, ({ name, pattern }) => `<${pattern ?? name}>`));

it.each([
  ['{{n}}', '<n>'],
  ['a{{last_user}}b{{agent}}', 'a<last_user>b<agent>'],
  ['{{{n}}}', '{<n>}'],
  ['{{name}}{{n }}{{}}', '{{name}}{{n }}{{}}'],
  ['{{find:a}}', '<a>'],
  ['{{find:}}', '{{find:}}'],
  ['{{find:}}}', '<}>'],
  ['{{find:{{n}}}}', '<{{n>}}'],
  ['{{find:a\nb}}{{n}}', '{{find:a\nb}}<n>'],
  ['{{find:a', '{{find:a'],
])('[K33] %j becomes %j', (text, filled) => {
  expect(show(text)).toBe(filled);
});

it('[K33] any text becomes what a regular expression would make of it', { timeout }, () => {
  const pieces = fc.constantFrom(
    '{{',
    '}}',
    '{',
    '}',
    'find:',
    'n',
    'results',
    '\n',
    '\u2028',
    'x',
    '{{n}}',
    '{{find:x}}',
    '{{find:',
  );
  assertProperty(
    fc.property(fc.array(pieces, { maxLength: 20 }), (all) => {
      const text = all.join('');
      const expression = /\{\{(?:(last_user|last_result|results|n|agent)|find:(.+?))\}\}/g;
      expect(show(text)).toBe(text.replace(expression, (_, name, pattern) => `<${pattern ?? name}>`));
    }),
    isLong ? 100_000 : 5_000,
  );
});

it.each([
  ['beginnings without an end', '{{find:'.repeat(140_000)],
  ['beginnings with one end', `${'{{find:'.repeat(140_000)}\n}}`],
  ['ends', '}}'.repeat(500_000)],
  ['braces', '{'.repeat(1_000_000)],
  ['beginnings of other things', '{{find:\n'.repeat(120_000)],
])('[K33] a million characters of %s take no longer than their length', (_, text) => {
  const start = process.cpuUsage();
  expect(show(text)).toBe(text);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1e6).toBeLessThan(1);
});
