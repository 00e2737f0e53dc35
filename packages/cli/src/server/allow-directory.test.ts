import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Loaded now, so that no time of a test goes into it.
import '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { begin, call } from '../../test-support/live-io.ts';

it('[WS18] --allow-directory and the configuration file allow directories, and others are refused with the flag', async () => {
  const root = await temporaryFolder();
  const [first, second, third] = ['first', 'second', 'third'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [first, second, third]) await mkdir(path);
  const config = join(root, 'config.json');
  await writeFile(config, JSON.stringify({ 'allow-directory': [third] }));
  const given = await tryAll(root, ['--allow-directory', first, second], {}, [first, second, third]);
  expect(given).toEqual([200, 200, 403]);
  expect(await tryAll(root, [], { FLEETLOOM_CONFIG: config }, [first, third])).toEqual([403, 200]);
  expect(await tryAll(root, [], {}, [first])).toEqual([403]);
});

it('[WS32] doctor reports git, and a worktree that lost its files', async () => {
  const root = await temporaryFolder();
  const data = join(root, 'data');
  const doctor = async () => {
    const { stdout } = await call(['doctor', '--json', '--data', data, '--url', 'http://127.0.0.1:1']);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; text: string });
    return (name: string) => findings.filter((finding) => finding.name === name).map(({ text }) => text);
  };
  expect((await doctor())('Git')).toEqual([expect.stringMatching(/^\d+\.\d+/)]);
  expect((await doctor())('Worktrees')).toEqual([]);
  const top = join(root, 'project');
  await mkdir(top);
  execFileSync('git', ['init', '--quiet'], { cwd: top });
  const repository = { top, commonDirectory: join(top, '.git') };
  const source = {
    type: 'directory',
    mode: 'worktree',
    path: top,
    workspace: join(data, 'workspaces/sesn_1'),
    repository,
  };
  await mkdir(join(data, 'workspace-sources'), { recursive: true });
  await writeFile(join(data, 'workspace-sources/sesn_1.json'), JSON.stringify({ state: 'ready', source, setup: null }));
  expect((await doctor())('Worktrees')).toEqual([`${source.workspace} in ${top}: its files are gone`]);
});

/** The statuses of requests for sessions on directories, one after the other. */
async function tryAll(root: string, args: string[], env: Record<string, string>, paths: readonly string[]) {
  const data = await mkdtemp(join(root, 'data-'));
  const { fake, ended } = begin(['serve', '--port', '0', '--open', '--json', '--data', data, ...args], { env });
  await expect.poll(() => fake.stdout.text, { timeout: 60_000 }).toContain('"url"');
  const { url } = JSON.parse(fake.stdout.text) as { url: string };
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { ...((await response.json()) as { id: string }), status: response.status };
  };
  const environment = await post('/v1/environments', { name: 'here' });
  const agent = await post('/v1/agents', { name: 'it', model: 'scripted/echo' });
  const statuses: number[] = [];
  for (const path of paths) {
    const resources = [{ type: 'directory', path }];
    statuses.push((await post('/v1/sessions', { agent: agent.id, environment_id: environment.id, resources })).status);
  }
  fake.send('SIGINT');
  await ended;
  return statuses;
}

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-directories-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
