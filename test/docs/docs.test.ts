import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type FleetloomServer, startServer } from '@fleetloom/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAIN } from '../../packages/cli/test-support/processes.ts';
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
/** Repositories of readers: of programs, and of commands. */
const users = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-docs-users-')));
const user = join(users, 'program');
// Inside of the repository, where the packages are found that a reader would have installed.
const place = join(repository, '.cache', 'docs-programs');
let server: FleetloomServer;
beforeAll(async () => {
  mkdirSync(place, { recursive: true });
  createUserRepository(user);
  server = await startServer({ dataDirectory: root, allowedDirectories: [user] });
});
afterAll(async () => {
  await server.close();
  for (const path of [root, users]) rmSync(path, { recursive: true, force: true });
});

describe('the documentation', () => {
  it('[G20] has programs on the introductory pages', () => {
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
      const env = { ...process.env, FLEETLOOM_URL: server.url, FLEETLOOM_KEY: server.firstKey!, REPOSITORY: user };
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

it('[WS133] the commands of the page about repositories run in their order, in a repository', () => {
  const commands = listCommands('run-on-your-repository.md');
  expect(commands.map((command) => command.split(' ').slice(0, 2).join(' '))).toEqual(
    ['run', 'diff', 'diff', 'show', 'runs', 'diff', 'show', 'apply', 'apply', 'apply', 'apply', 'discard'].map(
      (name) => `fleetloom ${name}`,
    ),
  );
  const directory = join(users, 'commands');
  createUserRepository(directory);
  const text = 'Open an issue first.\n';
  const turns = [[{ call: 'write', input: { file_path: 'CONTRIBUTING.md', content: text } }], [{ say: 'Done.' }]];
  const run = createReader(directory, turns);
  let id = '';
  const outputs = commands.map((command) => {
    const output = run(`${command.replace('sesn_01…', id).replace(/\s+#.*$/, '')} 2>&1`);
    id ||= /sesn_\w+/.exec(output)![0];
    return output;
  });
  expect(outputs[0]).toContain(`take it   fleetloom apply ${id}`);
  expect(outputs[1]).toContain('+Open an issue first.');
  expect(outputs[3]).toBe(text);
  expect(outputs[4]).toContain(`${id}  `);
  expect(outputs[5]).toMatch(/ start\n.* write +\+1 -0 +CONTRIBUTING\.md\n$/);
  expect(outputs[6]).toBe('A project.\n');
  expect(outputs[8]).toContain('Applied to');
  expect(outputs[9]).toContain('Committed to the branch contributing');
  expect(outputs[10]).toContain('Nothing to do');
  expect(
    execFileSync('git', ['worktree', 'list'], { cwd: directory, encoding: 'utf8' }).trim().split('\n'),
  ).toHaveLength(1);
}, 120_000);

it('[G26] the commands of the page about CI run in their order, without a terminal, in a checkout', () => {
  const directory = join(users, 'ci');
  createUserRepository(directory);
  const edit = { file_path: 'README.md', content: 'A project that works.\n' };
  const run = createReader(directory, [
    [{ call: 'write', input: edit }],
    [{ say: 'It does not say how to install it.' }],
  ]);
  const read = (name: string) => readFileSync(join(directory, name), 'utf8');
  const [review, apply, log, ...rest] = listCommands('run-in-ci.md');
  expect(rest).toEqual([]);
  run(review!);
  expect(read('review.md')).toBe('It does not say how to install it.\n');
  expect(read('README.md')).toBe('A project.\n');
  run(apply!);
  expect(read('README.md')).toBe(edit.content);
  run(log!);
  const events = read('events.ndjson').trim().split('\n');
  expect(events.map((line) => JSON.parse(line).type)).toContain('tool_call');
}, 120_000);

/** The lines of the code blocks whose fence says `sh run`. */
function listCommands(page: string): string[] {
  const blocks = [...readFileSync(join(docs, page), 'utf8').matchAll(/^```sh run\n([^]*?)^```$/gm)];
  return blocks
    .map(([, code]) => code!)
    .join('')
    .trim()
    .split('\n');
}

/** A shell in the repository of a reader, where `fleetloom run` has a model with these turns. */
function createReader(directory: string, turns: readonly unknown[]): (command: string) => string {
  const scripts = mkdtempSync(join(root, 'scripts-'));
  writeFileSync(join(scripts, 'writer.json'), JSON.stringify({ turns }));
  const env = { PATH: process.env['PATH'], HOME: root, FLEETLOOM_DATA: join(root, 'cli') };
  const more = `[ "$1" = run ] && set -- "$@" --model scripted/writer --scripts "${scripts}"`;
  const start = `fleetloom() { ${more}; "${process.execPath}" "${MAIN}" "$@"; }`;
  return (command) =>
    execFileSync('bash', ['-c', `${start}\n${command}`], { cwd: directory, env, encoding: 'utf8', stdio: 'pipe' });
}

function createUserRepository(path: string): void {
  mkdirSync(path);
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: path });
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  writeFileSync(join(path, 'README.md'), 'A project.\n');
  git('add', '--all');
  git('commit', '--quiet', '--message=first');
}

it('[G24] the SDK program of the README runs from a plain .js file and prints what each agent writes', async () => {
  const readme = readFileSync(join(repository, 'README.md'), 'utf8');
  const code = /^```js\n(import Anthropic[^]*?)^```$/m.exec(readme)![1]!;
  expect(code).toContain("baseURL: 'http://127.0.0.1:4280', apiKey: 'any'");
  const folder = join(place, 'plain');
  mkdirSync(folder, { recursive: true });
  // Without a `type`, like a project created by `npm init`.
  writeFileSync(join(folder, 'package.json'), '{}');
  const access = `baseURL: '${server.url}', apiKey: '${server.firstKey!}'`;
  writeFileSync(join(folder, 'bridge.js'), code.replace("baseURL: 'http://127.0.0.1:4280', apiKey: 'any'", access));
  const { code: exitCode, stdout } = await runNode([join(folder, 'bridge.js')]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^lead: Three workers look at this/m);
  expect(stdout.match(/^lead → worker: Collect /gm)).toHaveLength(3);
  expect(stdout.match(/^worker → lead: Done\. My report /gm)).toHaveLength(3);
  expect(stdout).toMatch(/^lead: All three have reported\./m);
}, 60_000);

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
  // Files outside docs/ have no page, so nothing links to them.
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

  it('[G21] links to an existing page and heading pass, and code is not a link', async () => {
    expect(await check(tree)).toMatchObject({ code: 0, stdout: '' });
  });

  it('[G21] links to a missing page, to a missing heading and out of the repository are reported with their lines', async () => {
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

it('[G25] every file that ARCHITECTURE.md names exists, and every name behind a file is in it', () => {
  const text = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8');
  const folders = ['', 'packages/server/src', 'packages'];
  const missing: string[] = [];
  for (const [, path = '', name] of text.matchAll(/`([\w./-]+\.(?:tsx?|mjs))`(?: `([\w#.]+)`)?/g)) {
    const file = folders.map((folder) => join(repository, folder, path)).find((each) => existsSync(each));
    if (file === undefined) missing.push(path);
    else if (name !== undefined && !new RegExp(`\\b${name}\\b`).test(readFileSync(file, 'utf8')))
      missing.push(`${path} ${name}`);
  }
  expect(missing).toEqual([]);
  expect(text.match(/^\d\. /gm)!.length).toBeGreaterThan(12);
});
