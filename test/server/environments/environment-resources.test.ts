import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bash, done, withUser } from '../workspaces/isolation.suite.ts';
import { say } from '../workspaces/snapshots.suite.ts';
import { type TestServer, toScript } from '../server.suite.ts';

type Answer = Record<string, unknown> & { id: string };

async function post({ url, key }: TestServer, path: string, body: object): Promise<{ status: number; body: Answer }> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Answer };
}

it('[WS330] a session that is created without `resources` has those of its environment, and one with `resources` has only its own', () =>
  withUser(async (test, user) => {
    const resources = [{ type: 'directory', path: user.path }];
    const { body: environment } = await post(test, '/v1/environments', { name: 'project', resources });
    expect(environment['resources']).toEqual(resources);
    const agent = await test.client.beta.agents.create({
      name: 'a',
      model: 'scripted/inline',
      system: toScript([[bash('echo changed > README.md')], done]),
      tools: [{ type: 'agent_toolset_20260401' }],
    });
    const create = async (more: object = {}) =>
      (await post(test, '/v1/sessions', { agent: agent.id, environment_id: environment.id, ...more })).body;
    const session = await create();
    expect(session['resources']).toMatchObject([{ type: 'directory', path: user.path, mode: 'worktree' }]);
    await say(test, session.id);
    expect(readFileSync(join(test.directory, 'workspaces', session.id, 'README.md'), 'utf8')).toBe('changed\n');
    expect((await create({ resources: [] }))['resources']).toEqual([]);
    const own = await create({ resources: [{ type: 'directory', path: user.path, mode: 'copy' }] });
    expect(own['resources']).toMatchObject([{ mode: 'copy' }]);
    const path = `/v1/environments/${environment.id}`;
    expect((await post(test, path, { name: 'other' })).body['resources']).toEqual(resources);
    expect((await post(test, path, { resources: null })).body['resources']).toBe(undefined);
    expect((await create())['resources']).toEqual([]);
    const plain = await test.client.beta.environments.create({ name: 'plain' });
    expect(plain).not.toHaveProperty('resources');
  }));

it('[WS331] the default resources of the environment `orchestrate` hold for `POST /v1/orchestrate` without `resources`', () =>
  withUser(async (test, user) => {
    await post(test, '/v1/environments', { name: 'orchestrate', resources: [{ type: 'directory', path: user.path }] });
    const headers = { 'x-api-key': test.key, 'content-type': 'application/json' };
    const tools = [{ type: 'agent_toolset_20260401' }];
    const run = async (more: object) => {
      const message = toScript([[{ call: 'glob', input: { pattern: '*.md' } }], [{ say: 'Found: {{last_result}}' }]]);
      const body = JSON.stringify({ message, agent_def: { name: 'm', model: 'scripted/echo', tools }, ...more });
      return await (await fetch(`${test.url}/v1/orchestrate`, { method: 'POST', headers, body })).text();
    };
    expect(await run({})).toContain('Found: README.md');
    expect(await run({ resources: [] })).not.toContain('Found: README.md');
  }));

it('[WS332] an environment is refused if a resource is not allowed: a directory outside of the roots with 403, a token, a self-hosted environment and a directory beside a repository with 400', () =>
  withUser(async (test, user) => {
    const create = async (resources: object[], more: object = {}) => {
      const { status, body } = await post(test, '/v1/environments', { name: 'e', resources, ...more });
      return [status, JSON.stringify(body)];
    };
    const directory = { type: 'directory', path: user.path };
    expect(await create([{ type: 'directory', path: user.outside }])).toEqual([
      403,
      expect.stringContaining('--allow-directory'),
    ]);
    const github = { type: 'github_repository', url: 'https://github.com/owner/name', authorization_token: 'canary' };
    const [status, text] = await create([github]);
    expect([status, text]).toEqual([400, expect.stringContaining('an environment does not store tokens')]);
    expect(text).not.toContain('canary');
    expect(await create([directory], { config: { type: 'self_hosted' } })).toEqual([
      400,
      expect.stringContaining('a self-hosted environment cannot have resources'),
    ]);
    const { authorization_token: _, ...open } = github;
    expect(await create([directory, open])).toEqual([
      400,
      expect.stringContaining('a directory is the whole workspace'),
    ]);
    expect(await create([{ type: 'git_repository', url: 'https://git.example.com/a/b' }])).toEqual([
      400,
      expect.stringContaining('--git-host'),
    ]);
    expect((await create([open]))[0]).toBe(200);
    const { body: environment } = await post(test, '/v1/environments', { name: 'e' });
    const update = await post(test, `/v1/environments/${environment.id}`, {
      resources: [{ type: 'directory', path: user.outside }],
    });
    expect(update.status).toBe(403);
  }));
