import { expect, it } from 'vitest';
import { runNode, runOnTree, scripts } from './temporary-tree.ts';

const documented = '/** Says what it is for. */\nexport const a = 1;\n';
const bare = 'export const b = 2;\n';

it.each([
  ['nine of ten exported names with a doc comment pass', 9, 1, '✓', '90', '9 of 10'],
  ['eight of nine fail', 8, 1, '✗', '88', '8 of 9'],
])('[G42] %s', async (_name, described, others, mark, percent, counts) => {
  const { stdout, code } = await runOnTree('check-shape.mjs', {
    'package.json': '{"workspaces": ["packages/*"]}',
    'packages/a/package.json': '{"name": "a"}',
    // A re-export is documented where it is defined.
    'packages/a/src/index.ts': "export type { C } from './c.ts';\nexport * from './a0.ts';\n",
    ...filesOf('a', described, documented),
    ...filesOf('b', others, bare),
  });
  const row = stdout.split('\n').find((line) => line.includes('doc comment'));
  expect(row?.split(/ {2,}/)).toEqual([`${mark} exported names with a doc comment, %`, percent, '≥ 90', counts]);
  expect(code).toBe(mark === '✓' ? 0 : 1);
});

it('[G42, G46] the repository passes, and `npm run check -- --shape` prints the table', async () => {
  const { stdout, code } = await runNode([`${scripts}/check.mjs`, '--shape']);
  expect(stdout).toMatch(/✓ exported names with a doc comment/);
  expect(stdout).toMatch(/✓ source lines +\d+/);
  expect(code).toBe(0);
});

function filesOf(name: string, count: number, content: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`packages/a/src/${name}${at}.ts`, content]));
}
