import { expect, it } from 'vitest';
import { type Ending, runNode, runOnTree, scripts } from './temporary-tree.ts';

const found: [string, string][] = [
  [
    'a RegExp of an argument',
    'export function fits(text: string, pattern: string) {\n  return new RegExp(pattern).test(text);\n}\n',
  ],
  ['a RegExp without new', 'export function toFilter(word: string) {\n  return RegExp(word);\n}\n'],
  ['a RegExp in an arrow function', 'export const toFilter = (word: string) => new RegExp(word);\n'],
  ['a RegExp in a method', 'class Filter {\n  test(word: string) {\n    return new RegExp(`^${word}`, "u");\n  }\n}\n'],
  ['match with a variable', 'export const count = (text: string, word: string) => text.match(word);\n'],
  ['matchAll with a variable', 'export const all = (text: string, word: string) => [...text.matchAll(word)];\n'],
  ['search with a text', 'export const find = (text: string) => text.search("a.b");\n'],
  ['a program from text', "import { Script } from 'node:vm';\n"],
  ['RE2 elsewhere', "import { RE2JS } from 're2js';\n"],
];

it.each(found)('[D15] %s is reported', async (name) => {
  const { code, stdout } = await checkAll();
  expect(code).toBe(1);
  expect(stdout.split('\n').filter((line) => line.startsWith(`packages/server/src/${name}.ts:`))).toHaveLength(1);
});

it('[D15] literals, constants of a module, tests and the one file that may are not reported', async () => {
  const ending = await runOnTree('check-patterns.mjs', {
    'packages/server/src/a.ts': [
      'const WORD = /\\w+/g;',
      "const TOKEN = '[a-z]';",
      'const NAME = new RegExp(`^${TOKEN}+$`);',
      'export const LONG = new RegExp(',
      '  [',
      "    'a',",
      "  ].join('|'),",
      "  'g',",
      ');',
      'export function words(text: string) {',
      '  // new RegExp(text) would be wrong',
      "  return [...text.matchAll(WORD), text.match(/a/), 'new RegExp(x)', NAME, LONG];",
      '}',
    ].join('\n'),
    'packages/server/src/a.test.ts': 'const f = (x: string) => new RegExp(x);\n',
    'packages/server/src/base/linear-regex.ts': "import { RE2JS } from 're2js';\n",
    'scripts/a.mjs': 'export const f = (x) => new RegExp(x);\n',
  });
  expect(ending).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('[D15] nothing of ours builds a RegExp of anything from outside', async () => {
  expect(await runNode([`${scripts}/check-patterns.mjs`])).toEqual({ code: 0, stdout: '', stderr: '' });
});

let report: Promise<Ending> | undefined;

function checkAll(): Promise<Ending> {
  const files = found.map(([name, text]) => [`packages/server/src/${name}.ts`, text]);
  report ??= runOnTree('check-patterns.mjs', Object.fromEntries(files));
  return report;
}
