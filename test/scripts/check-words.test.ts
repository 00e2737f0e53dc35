import { expect, it } from 'vitest';
import { type Ending, runNode, runOnTree, scripts } from './temporary-tree.ts';

const found: [name: string, text: string, phrase: string][] = [
  ['a negation without an article', 'This is no key.', 'is no k'],
  ['an invalid value', 'an address that is none', 'that is none'],
  ['a vague verb', 'The reader is told.', 'told'],
  ['a wake-up', 'The owner hears of it.', 'hears of'],
  ['a permit', 'It waits for leave.', 'waits for leave'],
  ['a pronoun for a caller', 'Whoever reads it', 'Whoever'],
  ['an indefinite pronoun', 'Nobody waits.', 'Nobody'],
  ['a sentence with who as its subject', '// Who waits gets an error.', '// Who w'],
  ['a title that begins with a pronoun', "it('[S41] what is sent arrives', f);", "'[S41] what "],
  ['an idle session', 'The session rests.', 'session rests'],
  ['a metaphor', 'checked at the door', 'at the door'],
  ['a name with a word that is not of the field', 'const isTold = true;', 'isTold'],
];

it.each(found)('[G41] %s is reported with its position and what to write', async (name, _text, phrase) => {
  const { code, stdout } = await checkAll();
  expect(code).toBe(1);
  const lines = stdout.split('\n').filter((line) => line.startsWith(`docs/${toFile(name)}:2 `));
  expect(lines.map((line) => line.split(': write ')[0])).toEqual([`docs/${toFile(name)}:2 "${phrase}"`]);
  expect(lines[0]).toMatch(/: write .+/);
});

it('[G41] plain wording, fixed texts of stored logs and files that are not read pass', async () => {
  const ending = await runOnTree('check-words.mjs', {
    'README.md': 'There is no key. It is no longer valid. The caller that waits gets an error.\n',
    'packages/a/src/a.ts': "export const by = 'somebody'; // not a person\n",
    'packages/a/demo/a.md': 'Nobody told me.\n',
    'node_modules/a/a.md': 'Nobody told me.\n',
    'fixtures/a.md': 'Nobody told me.\n',
  });
  expect(ending).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('[G41] the repository passes', async () => {
  expect(await runNode([`${scripts}/check-words.mjs`])).toEqual({ code: 0, stdout: '', stderr: '' });
});

/** One tree with a file for each, so that the program runs once. */
let report: Promise<Ending> | undefined;

function checkAll(): Promise<Ending> {
  const files = found.map(([name, text]) => [`docs/${toFile(name)}`, `first line\n${text}\n`]);
  report ??= runOnTree('check-words.mjs', Object.fromEntries(files));
  return report;
}

function toFile(name: string): string {
  return `${name.replaceAll(' ', '-')}.ts`;
}
