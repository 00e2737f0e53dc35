import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomText } from '../../../../../../test/support/seed.ts';
import { toToolLimits } from '../../tool-limits.ts';
import { Directory } from '../../workspace/directory.ts';
import { walk, type WalkEnd } from '../../workspace/walk.ts';
import { SearchTime } from '../search/search-time.ts';
import { findFiles } from './find-files.ts';
import { GlobPattern } from './glob-pattern.ts';

const PATHS = (
  'a.ts b.js .c.ts ab é👩.ts [a src/a.ts src/b/a.ts src/b/b/a.ts src/b/.a/ab.js ' +
  'test/src/a.ts test/b/a/b/a a/a/a/a/a a/b/a.ts .git/a.ts src/node_modules/a.ts a{b}/c,d.ts'
).split(' ');
const PARTS = '** * a b src *.ts .* ? [!a]* {a,b} {src,test} *a* 👩 ?👩.ts \\*'.split(' ');

let root: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-glob-')));
  for (const path of PATHS) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  symlinkSync('src', join(root, 'link'));
});
afterAll(() => rmSync(root, { recursive: true }));

it.each([true, false])(
  '[U407] a search by name finds what a walk over everything finds (directories held: %s)',
  async (isHeld) => {
    const random = randomText();
    for (let round = 0; round < 60; round++) {
      const pattern = Array.from({ length: 1 + random.below(4) }, () => random.pick(PARTS)).join('/');
      const { paths, end } = await find(pattern, { isHeld });
      expect({ pattern, paths, end }).toEqual({ pattern, paths: await findByWalking(pattern), end: 'whole' });
    }
  },
);

it('[U407] directories in which nothing can match count neither as entries nor as levels', async () => {
  // The root has twelve entries, src three.
  expect(await find('src/*.ts', { entriesMax: 15, depthMax: 1 })).toEqual({ paths: ['src/a.ts'], end: 'whole' });
  expect((await find('src/*.ts', { entriesMax: 14, depthMax: 1 })).end).toBe('too_many');
  expect((await find('**/*.ts', { depthMax: 1 })).end).toBe('too_many');
});

it('[U407] files are found also when the directory that the process began in was removed', async () => {
  const before = process.cwd();
  const gone = mkdtempSync(join(tmpdir(), 'fleetloom-gone-'));
  process.chdir(gone);
  rmSync(gone, { recursive: true });
  try {
    expect(await find('src/*.ts')).toEqual({ paths: ['src/a.ts'], end: 'whole' });
  } finally {
    process.chdir(before);
  }
});

async function find(
  pattern: string,
  { isHeld = true, entriesMax = 1_000, depthMax = 64 } = {},
): Promise<{ paths: string[]; end: WalkEnd }> {
  const directory = await Directory.openRoot(root, isHeld);
  const paths: string[] = [];
  const end = await findFiles(directory, {
    glob: new GlobPattern(pattern, toToolLimits()),
    time: new SearchTime(60_000, new AbortController().signal),
    entriesMax,
    depthMax,
    onFiles: (holder, names) => {
      expect(holder.statsNow([...names, 'none']).map((stats) => stats?.size)).toEqual([
        ...names.map(() => 0),
        undefined,
      ]);
      paths.push(...names.map((name) => holder.pathOf(name)));
    },
  });
  await directory.close();
  return { paths: paths.sort(), end };
}

/** Every path below the directory, each compared with the whole pattern. */
async function findByWalking(pattern: string): Promise<string[]> {
  const matches = toMatcher(pattern);
  const directory = await Directory.openRoot(root);
  const paths: string[] = [];
  await walk(directory, {
    entriesMax: 1_000,
    depthMax: 64,
    signal: new AbortController().signal,
    onFile: async (holder, name) => {
      if (matches(holder.pathOf(name))) paths.push(holder.pathOf(name));
      return 'continue';
    },
  });
  await directory.close();
  return paths.sort();
}

/** The same as an expression, which would take too long for patterns that are not ours. */
function toMatcher(pattern: string): (path: string) => boolean {
  const parts = pattern.split('/').map((part) => (part === '**' ? '(?:[^/]+/)*' : `${toExpression(part)}/`));
  const expression = new RegExp(`^${parts.join('')}$`, 'u');
  return (path) => expression.test(`${path}/`);
}

function toExpression(part: string): string {
  if (part.startsWith('{')) return `(?:${part.slice(1, -1).replace(',', '|')})`;
  const known: Record<string, string> = { '*': '[^/]*', '?': '[^/]', '.': '\\.', '[!a]': '[^a/]' };
  return part.replaceAll(/\\\*|\[!a\]|[*?.]/g, (token) => known[token] ?? token);
}
