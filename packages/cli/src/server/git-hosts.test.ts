import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// Loaded now, so that no time of a test goes into it.
import '@fleetloom/server';
import { expect, it, onTestFinished } from 'vitest';
import { begin, call } from '../../test-support/live-io.ts';

it('[WS181] --git-host and the configuration file allow git hosts, and a value that is not a host is wrong usage', async () => {
  const root = await mkdtemp(join(tmpdir(), 'fleetloom-git-host-'));
  onTestFinished(() => rm(root, { recursive: true }));
  const config = join(root, 'config.json');
  await writeFile(config, JSON.stringify({ 'git-host': ['c.example'], 'git-push': 'none' }));
  const hosts = ['github.com', 'a.example', 'b.example:8443', 'c.example'];
  expect(await tryAll(root, ['--git-host', 'a.example', 'b.example:8443'], {}, hosts)).toEqual([200, 200, 200, 400]);
  expect(await tryAll(root, ['--git-host', '*'], {}, hosts)).toEqual([200, 200, 200, 200]);
  expect(await tryAll(root, [], { FLEETLOOM_CONFIG: config }, hosts)).toEqual([200, 400, 400, 200]);
  const wrong = await call(['serve', '--port', '0', '--open', '--data', join(root, 'data'), '--git-host', '*.example']);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('*.example is not a git host') });
  const push = await call(['serve', '--port', '0', '--open', '--data', join(root, 'data'), '--git-push', 'some']);
  expect(push).toMatchObject({ code: 2, stderr: expect.stringContaining('none, no-delete, all') });
});

/** The statuses of requests for sessions with repositories of these hosts. Nothing is cloned, because no session runs. */
async function tryAll(root: string, args: string[], env: Record<string, string>, hosts: readonly string[]) {
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
  for (const host of hosts) {
    const resources = [{ type: 'github_repository', url: `https://${host}/owner/repository` }];
    statuses.push((await post('/v1/sessions', { agent: agent.id, environment_id: environment.id, resources })).status);
  }
  fake.send('SIGINT');
  await ended;
  return statuses;
}
