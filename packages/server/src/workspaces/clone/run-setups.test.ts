import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openGitServer } from './git-server.suite.ts';
import { openRepositoriesBench, SESSION } from './repositories.suite.ts';

it('[WS611] a setup command runs once in its clone, after all clones are there', async () => {
  const { bench } = await openClones('pwd -P >> ../log; cat ../two/README.md >> ../log', 'echo two >> ../log');
  expect(await bench.prepareAll()).toEqual({ problems: [], hasNewFiles: true, failedSetup: null });
  const log = () => readFileSync(join(bench.workspace, 'log'), 'utf8');
  expect(log()).toBe(`${bench.workspace}/one\ntwo\ntwo\n`);
  expect(bench.setups.map(({ command, code }) => [command.slice(0, 8), code])).toEqual([
    ['pwd -P >', 0],
    ['echo two', 0],
  ]);
  expect(await bench.prepareAll()).toEqual({ problems: [], hasNewFiles: false, failedSetup: null });
  expect([log(), bench.setups.length]).toEqual([`${bench.workspace}/one\ntwo\ntwo\n`, 2]);
});

it('[U604] each clone and each setup command is done in turn, and what was done before takes none', async () => {
  const { bench } = await openClones('echo one', 'echo two');
  await bench.prepareAll();
  expect(bench.turns).toEqual([SESSION, SESSION, SESSION, SESSION]);
  await bench.prepareAll();
  expect(bench.turns).toHaveLength(4);
});

it('[WS611] a setup command that fails stops those behind it, now and at each later run', async () => {
  const { bench } = await openClones('echo broken; exit 3', 'touch ../second');
  for (let run = 0; run < 2; run++) {
    expect(await bench.prepareAll()).toMatchObject({
      failedSetup: { command: 'echo broken; exit 3', code: 3, output: 'broken\n' },
    });
  }
  expect([bench.setups.length, existsSync(join(bench.workspace, 'second'))]).toEqual([1, false]);
});

it('[WS611] one that was stopped with its session runs again, and one that was not logged is logged', async () => {
  const { bench } = await openClones('echo x >> ../log; sleep 0.5');
  const stop = new AbortController();
  const stopped = bench.prepareAll(stop.signal);
  const log = async () => await readFile(join(bench.workspace, 'log'), 'utf8').catch(() => '');
  await expect.poll(log).toBe('x\n');
  stop.abort();
  expect([await stopped, bench.setups]).toEqual([{ problems: [], hasNewFiles: true, failedSetup: null }, []]);
  await bench.prepareAll();
  expect([await log(), bench.setups.length]).toEqual(['x\nx\n', 1]);
  // A crash after the command ran and before the log had it.
  const notes = join(bench.directory, SESSION);
  const file = join(notes, (await readdir(notes)).find((name) => name.endsWith('.setup.json'))!);
  const note = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...note, isLogged: false }));
  await bench.prepareAll();
  expect([await log(), bench.setups.length]).toEqual(['x\nx\n', 2]);
});

it('[WS611] the setup command of a repository that could not be cloned waits for its clone', async () => {
  const { bench, host } = await openClones('touch ../done');
  host.allow('team/one', null, 'forbidden');
  expect(await bench.prepareAll()).toMatchObject({ problems: [{ type: 'repository_forbidden_error' }] });
  expect(bench.setups).toEqual([]);
  host.allow('team/one', null, 'read');
  expect(await bench.prepareAll()).toMatchObject({ problems: [], hasNewFiles: true });
  expect(existsSync(join(bench.workspace, 'done'))).toBe(true);
});

it('[WS611] where there is no sandbox, no setup command runs, and the reason is reported', async () => {
  const { bench } = await openClones('touch ../done', undefined, { allowsUnsandboxed: false });
  expect(await bench.prepareAll()).toMatchObject({
    problems: [{ type: 'repository_clone_error', message: expect.stringContaining('setup commands run in a sandbox') }],
    failedSetup: null,
  });
  expect(existsSync(join(bench.workspace, 'done'))).toBe(false);
});

/** Two repositories with setup commands. */
async function openClones(one: string, two?: string, options: { readonly allowsUnsandboxed?: boolean } = {}) {
  const host = await openGitServer();
  const bench = openRepositoriesBench([host.origin], {}, options);
  for (const [name, setup] of [
    ['one', one],
    ['two', two],
  ] as const) {
    const url = host.addRepository(`team/${name}`, { 'README.md': `${name}\n` });
    host.allow(`team/${name}`, null, 'read');
    bench.add('github_repository', url, `/workspace/${name}`, setup);
  }
  return { bench, host };
}
