import { expect, it } from 'vitest';
import { type Ending, runOnTree } from './temporary-tree.ts';

const found: [string, string, string][] = [
  ['a home folder', 'see /home/alice/notes', '/home/alice'],
  ['a home folder in an address', 'file:///Users/bob/x.md', '/Users/bob'],
  ["root's home folder", '"cwd": "/root/project"', '/root/project'],
  ['the folder of a machine', '`/work/copy`', '/work/copy'],
  ['a home folder on Windows', 'C:\\Users\\carol\\x', 'C:\\Users\\carol'],
  ['a registry', 'https://registry.example.org/left-pad', 'https://registry.example.org'],
  [
    'where a package came from',
    '"resolved": "https://mirror.example/a.tgz"',
    '"resolved": "https://mirror.example/a.tgz',
  ],
  ['a registry setting', 'registry=http://localhost:4873', 'registry=http://localhost:4873'],
];

it.each(found)('[G3] %s is reported', async (name, _text, place) => {
  const { code, stdout } = await checkAll();
  expect(code).toBe(1);
  expect(stdout.split('\n').filter((line) => line.startsWith(`docs/${name}:2 "${place}" `))).toHaveLength(1);
});

it('[G3] nothing is reported twice', async () => {
  const { stdout } = await checkAll();
  expect(stdout.trimEnd().split('\n')).toHaveLength(found.length);
});

it('[G3] paths that are valid on every machine pass', async () => {
  const ending = await runOnTree('check-paths.mjs', {
    'a.md':
      'https://host/home/alice /home/user/project /v1/sessions/{id}/work/items packages/root/x the npm registry. registry.all.values()\n',
    'b.bin': '\0/home/alice',
    'node_modules/a/package.json': '"/home/alice"',
    'package-lock.json': '"resolved": "packages/client"',
  });
  expect(ending).toEqual({ code: 0, stdout: '', stderr: '' });
});

/** One tree with a file for each, so that the program runs once. */
let report: Promise<Ending> | undefined;

function checkAll(): Promise<Ending> {
  const files = found.map(([name, text]) => [`docs/${name}`, `first line\n${text}\n`]);
  report ??= runOnTree('check-paths.mjs', Object.fromEntries(files));
  return report;
}
