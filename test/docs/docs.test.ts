import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FleetloomServer, startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runNode, runOnTree } from '../scripts/temporary-tree.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const docs = join(repository, 'docs');
const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
const programs = pages.flatMap((page) => {
  const blocks = listPrograms(readFileSync(join(docs, page), 'utf8'));
  return blocks.length === 0 ? [] : [[page, blocks.join('\n')] as const];
});

/** Code blocks whose fence says `js run`, in their order. */
function listPrograms(text: string): string[] {
  return [...text.matchAll(/^```js run\n([^]*?)^```$/gm)].map(([, code]) => code ?? '');
}

const root = mkdtempSync(join(tmpdir(), 'fleetloom-docs-'));
// Inside of the repository, where the packages are found that a reader would have installed.
const place = join(repository, '.cache', 'docs-programs');
let server: FleetloomServer;
beforeAll(async () => {
  mkdirSync(place, { recursive: true });
  server = await startServer({ dataDirectory: root });
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

describe('the documentation', () => {
  it('[G20] has programs on the pages of the nouns that one begins with', () => {
    const names = programs.map(([page]) => page);
    expect(names).toEqual(
      expect.arrayContaining([
        'start.md',
        'agents.md',
        'sessions.md',
        'threads.md',
        'events.md',
        'approvals.md',
        'fleet-streams.md',
      ]),
    );
  });

  it.each(programs)(
    '[G20] the program of %s runs',
    async (page, code) => {
      const file = join(place, page.replace(/\.md$/, '.mjs'));
      writeFileSync(file, code);
      const env = { ...process.env, FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey! };
      const child = spawn(process.execPath, [file], { cwd: repository, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      child.stdout.on('data', (text) => (output += text));
      child.stderr.on('data', (text) => (output += text));
      const exitCode = await new Promise((resolve) => child.on('close', resolve));
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 });
      expect(output).not.toBe('');
    },
    60_000,
  );
});

it('[G22] the site has a page for each page of docs, whose links lead to pages, and llms.txt for programs', async () => {
  expect(await runNode([join(repository, 'scripts', 'docs.mjs')])).toMatchObject({ code: 0, stderr: '' });
  const site = join(repository, '.cache', 'site');
  const made = readdirSync(site, { recursive: true, encoding: 'utf8' });
  for (const page of pages)
    expect(made).toContain(page === 'README.md' ? 'index.html' : page.replace(/\.md$/, '.html'));
  const index = readFileSync(join(site, 'index.html'), 'utf8');
  const links = [...index.matchAll(/href="([\w/-]+\.html)"/g)].map(([, path]) => path);
  expect(links.length).toBeGreaterThan(pages.length);
  expect(made).toEqual(expect.arrayContaining(links));
  // What is elsewhere in the repository has no page, so nothing leads to it.
  expect(index).not.toMatch(/href="\.\.|SPEC\.md"/);
  expect(readFileSync(join(site, 'llms.txt'), 'utf8')).toContain('- [Threads](threads.md)');
}, 120_000);

describe('links', () => {
  const tree = {
    'docs/a.md':
      '# A\n\n## Part two\n\n[b](b.md) [part](#part-two) [there](b.md#the-end) [other](https://example.org/x)\n',
    'docs/b.md': '# The end\n\n`[code](nowhere.md)`\n\n    [also](nowhere.md)\n',
  };
  const check = (files: Record<string, string>) => runOnTree('check-links.mjs', files);

  it('[G21] those that lead to a page and to a heading in it are fine, and code is no link', async () => {
    expect(await check(tree)).toMatchObject({ code: 0, stdout: '' });
  });

  it('[G21] a page that is not there, a heading that is not there and a way out are named with their lines', async () => {
    const bad = 'x\n[1](c.md)\n[2](b.md#nope)\n[3](../../x.md)\n';
    const { code, stdout } = await check({ ...tree, 'docs/bad.md': bad });
    expect(code).toBe(1);
    expect(stdout.trim().split('\n')).toEqual([
      'docs/bad.md:2 links to c.md, which is not there',
      'docs/bad.md:3 links to b.md#nope, which has no such heading',
      'docs/bad.md:4 links to ../../x.md, which is outside of the repository',
    ]);
  });
});
