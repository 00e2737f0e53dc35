import { mkdtemp, mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { ROUTE_SCOPES } from '../../../packages/server/src/http/routing/route-scopes.ts';
import { ROLES, SCOPES, type Scope } from '../../../packages/server/src/keys/scopes.ts';
import { createTestKey, send, signInAs } from './scopes.suite.ts';
import { connect, type TestServer, toScript, withServer } from '../server.suite.ts';
import { withRepository } from '../../../packages/server/src/workspaces/repository.suite.ts';

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** Every registered route, with ids that do not exist. */
async function listOperations(test: TestServer): Promise<Operation[]> {
  const { text } = await send(test.server, 'GET', '/openapi.json', {});
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> };
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => ({
      name: operationId,
      method: method.toUpperCase(),
      path: path.replace(/\{(\w+)\}/g, (_, param: string) => EXAMPLES[param] ?? 'x'),
    })),
  );
  return [...routes, { name: 'scripted', method: 'POST', path: '/scripted/v1/messages' }];
}

const EXAMPLES: Readonly<Record<string, string>> = {
  agent_id: 'agent_none',
  environment_id: 'env_none',
  session_id: 'sesn_none',
  thread_id: 'sthr_none',
  resource_id: 'sesrsc_none',
  work_id: 'work_none',
  file_id: 'file_none',
};

it('[ID1, ID2] every registered route is in the table, and each key is refused exactly where a scope is missing, by name', () =>
  withServer(async (test) => {
    const operations = await listOperations(test);
    expect(operations.map(({ name }) => name).sort()).toEqual(Object.keys(ROUTE_SCOPES).sort());
    for (const scope of SCOPES) {
      const { secret } = await createTestKey(test, { scopes: [scope] });
      for (const { name, method, path } of operations) {
        const answer = await send(
          test.server,
          method,
          path,
          { 'x-api-key': secret },
          method === 'POST' ? {} : undefined,
        );
        const needed: readonly Scope[] = name === 'sessions.events.send' ? needsOneOf(scope) : ROUTE_SCOPES[name]!;
        const missing = needed.filter((each) => each !== scope);
        const found = [name, answer.status === 403, answer.error.type, answer.error.details?.['scopes']];
        if (missing.length === 0)
          expect([name, answer.error.details?.['error_code']]).not.toEqual([name, 'scope_missing']);
        else expect(found).toEqual([name, true, 'permission_error', missing]);
        for (const each of missing) expect(answer.error.message).toContain(each);
      }
    }
  }));

/** Either is enough to get past the first check. */
function needsOneOf(scope: Scope): readonly Scope[] {
  return scope === 'run' || scope === 'approve' ? [scope] : ['run'];
}

it('[ID2] other methods, encodings and forms of a path need the same scope, and no credential gets more by an added header', () =>
  withServer(async (test) => {
    const { secret } = await createTestKey(test, { scopes: ['read'] });
    const agent = { name: 'sneaked in', model: 'scripted/echo' };
    const forms = [
      '/v1/agents',
      '/v1/%61gents',
      '/v1/x/../agents',
      '/v1/./agents',
      '//v1/agents',
      '/v1//agents',
      '/v1/agents/',
      '/V1/agents',
      '/v1/agents?x=1',
      '/v1/agents#/healthz',
      '/healthz/../v1/agents',
      '/v1/agents%2f',
      '/%2e%2e/v1/agents',
      `http://127.0.0.1:${test.server.port}/v1/agents`,
    ];
    for (const path of forms) {
      for (const method of ['POST', 'PUT', 'PATCH', 'OPTIONS', 'POST ']) {
        const answer = await send(
          test.server,
          method.trim(),
          path,
          { 'x-api-key': secret, 'x-http-method-override': 'POST' },
          agent,
        );
        expect([path, method, answer.status >= 400]).toEqual([path, method, true]);
      }
    }
    for (const headers of [
      { 'x-forwarded-for': '127.0.0.1' },
      { authorization: 'Bearer wrong', 'x-api-key': secret },
      { authorization: `Bearer ${secret}`, 'x-api-key': test.key },
    ] as Record<string, string>[]) {
      const answer = await send(test.server, 'POST', '/v1/agents', { 'x-api-key': secret, ...headers }, agent);
      expect([headers, [401, 403].includes(answer.status)]).toEqual([headers, true]);
    }
    expect((await send(test.server, 'HEAD', '/v1/fleet/audit', { 'x-api-key': secret })).status).toBe(403);
    expect((await send(test.server, 'HEAD', '/v1/agents', { 'x-api-key': secret })).status).toBe(200);
    expect((await test.client.beta.agents.list()).data).toEqual([]);
  }));

it('[ID2] of the events of one request each needs its own scope: decisions `approve`, everything else `run`, and nothing is half sent', () =>
  withServer(async (test) => {
    const { session, call } = await waiting(test);
    const events = `/v1/sessions/${session}/events`;
    const message = { type: 'user.message', content: [{ type: 'text', text: 'more' }] };
    const decision = { type: 'user.tool_confirmation', tool_use_id: call, result: 'allow' };
    const run = { 'x-api-key': (await createTestKey(test, { scopes: ['run'] })).secret };
    const approve = { 'x-api-key': (await createTestKey(test, { scopes: ['approve'] })).secret };
    const missing = async (headers: Record<string, string>, ...sent: object[]) =>
      (await send(test.server, 'POST', events, headers, { events: sent })).error.details?.['scopes'];
    expect(await missing(run, message, decision)).toEqual(['approve']);
    expect(await missing(approve, decision, message)).toEqual(['run']);
    expect(JSON.stringify(await test.client.beta.sessions.events.list(session))).not.toContain('more');
    expect((await send(test.server, 'POST', events, approve, { events: [decision] })).status).toBe(200);
  }));

it('[ID50] a decision that changes the input of a call needs `run` and `approve`, since its sender chooses what is run', () =>
  withServer(async (test) => {
    const { session, call } = await waiting(test);
    const decision = { type: 'user.tool_confirmation', tool_use_id: call, result: 'allow' };
    const decide = async (scopes: readonly Scope[], updated_input: object | null) => {
      const headers = { 'x-api-key': (await createTestKey(test, { scopes })).secret };
      const body = { events: [{ ...decision, updated_input }] };
      const { status, error } = await send(test.server, 'POST', `/v1/sessions/${session}/events`, headers, body);
      return [status, error.details?.['scopes']];
    };
    expect(await decide(['approve'], { command: 'touch chosen' })).toEqual([403, ['run']]);
    expect(await decide(['run'], { command: 'touch chosen' })).toEqual([403, ['approve']]);
    expect(await decide(['run', 'approve'], { command: 'true' })).toEqual([200, undefined]);
    expect(await decide(['approve'], null)).toEqual([400, undefined]);
  }));

/** A session whose agent waits for an approval. */
async function waiting({ client }: TestServer) {
  const agent = await client.beta.agents.create({
    name: 'asks',
    model: 'scripted/x',
    system: toScript([[{ call: 'bash', input: { command: 'true' } }], [{ say: 'done' }]]),
    tools: [{ type: 'agent_toolset_20260401', default_config: { permission_policy: { type: 'always_ask' } } }],
  });
  const environment = await client.beta.environments.create({ name: 'here' });
  const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const content = [{ type: 'text' as const, text: 'Go.' }];
  await client.beta.sessions.events.send(session.id, { events: [{ type: 'user.message', content }] });
  const call = await vi.waitFor(async () => {
    const { data } = await client.beta.sessions.events.list(session.id);
    const found = data.find(({ type }) => type === 'agent.tool_use');
    expect(found).toBeDefined();
    return (found as { id: string }).id;
  }, 10_000);
  return { session: session.id, call };
}

it('[ID4] a key with directories starts, continues and applies sessions only there, also through links, environments and forks', async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'fleetloom-scopes-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [mine, other] = [join(root, 'mine'), join(root, 'other')];
  for (const path of [join(mine, 'sub'), other]) await mkdir(path, { recursive: true });
  await symlink(other, join(mine, 'link'));
  await withServer(
    async (test) => {
      const { secret } = await createTestKey(test, { directories: [mine] });
      const limited = connect(test.url, secret);
      const agent = await test.client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
      const plain = await test.client.beta.environments.create({ name: 'here' });
      const create = (client: typeof limited, path: string) =>
        client.post<{ id: string }>('/v1/sessions', {
          body: { agent: agent.id, environment_id: plain.id, resources: [{ type: 'directory', path, mode: 'copy' }] },
        });
      for (const path of [other, join(mine, 'link'), `${mine}/../other`, root, `${mine}x`]) {
        await expect(create(limited, path)).rejects.toMatchObject({ status: 403 });
      }
      expect((await create(limited, join(mine, 'sub'))).id).toMatch(/^sesn_/);
      // The default of an environment, and a session that another key has created.
      const body = { name: 'elsewhere', resources: [{ type: 'directory', path: other, mode: 'copy' }] };
      const environment = await test.client.post<{ id: string }>('/v1/environments', { body });
      const theirs = { agent: agent.id, environment_id: environment.id };
      await expect(limited.post('/v1/sessions', { body: theirs })).rejects.toMatchObject({ status: 403 });
      const { id } = await create(test.client, other);
      const message = { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }] };
      for (const [path, sent] of [
        ['events', message],
        ['fork', {}],
        ['changes/apply', {}],
        ['changes/restore', { at: 'start' }],
      ] as const) {
        const refused = limited.post(`/v1/sessions/${id}/${path}`, { body: sent });
        await expect(refused).rejects.toMatchObject({ status: 403, message: expect.stringContaining(mine) });
      }
      expect((await limited.beta.sessions.retrieve(id)).id).toBe(id);
    },
    { allowedDirectories: [root] },
  );
});

it('[ID4] a key with engines starts and continues only sessions whose agents and rosters run on them', () =>
  withServer(async (test) => {
    const limited = connect(test.url, (await createTestKey(test, { engines: ['model'] })).secret);
    const scripted = connect(test.url, (await createTestKey(test, { engines: ['scripted'] })).secret);
    const agent = await test.client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const { id: environment_id } = await test.client.beta.environments.create({ name: 'here' });
    await expect(limited.beta.sessions.create({ agent: agent.id, environment_id })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('the engine scripted'),
    });
    const orchestrate = { body: { message: 'Go.', agent: 'a' } };
    await expect(limited.post('/v1/orchestrate', orchestrate)).rejects.toMatchObject({ status: 403 });
    const session = await scripted.beta.sessions.create({ agent: agent.id, environment_id });
    const content = [{ type: 'text' as const, text: 'Go.' }];
    const events = [{ type: 'user.message' as const, content }];
    await expect(limited.beta.sessions.events.send(session.id, { events })).rejects.toMatchObject({ status: 403 });
    expect((await scripted.beta.sessions.events.send(session.id, { events })).data).toHaveLength(1);
  }));

it('[ID41] a key with a part of a repository gets no worktree, which would have all of it, and may use a copy of its part', () =>
  withRepository(async ({ root, path, write, git }) => {
    await write('part/a.txt', 'a');
    git('add', '--all');
    git('commit', '--quiet', '--message=part');
    // A worktree of the user, whose branches are in a repository elsewhere.
    const linked = join(root, 'linked');
    git('worktree', 'add', '--quiet', linked);
    await withServer(
      async (test) => {
        const part = join(path, 'part');
        const agent = await test.client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
        const environment = await test.client.beta.environments.create({ name: 'here' });
        const create = (key: string, directory: string, more: object = {}) => {
          const resources = [{ type: 'directory', path: directory, ...more }];
          const body = { agent: agent.id, environment_id: environment.id, resources };
          return send(test.server, 'POST', '/v1/sessions', { 'x-api-key': key }, body);
        };
        const { secret } = await createTestKey(test, { directories: [part, linked] });
        for (const [directory, mode] of [
          [part, {}],
          [part, { mode: 'worktree' }],
          [linked, {}],
        ] as const) {
          const refused = await create(secret, directory, mode);
          expect([refused.status, refused.error.details?.['error_code']]).toEqual([403, 'key_limited']);
        }
        expect((await create(secret, part, { mode: 'copy' })).status).toBe(200);
        const resources = [{ type: 'git_repository', url: 'file:///srv/a%2Fb' }];
        const odd = { agent: agent.id, environment_id: environment.id, resources };
        expect((await send(test.server, 'POST', '/v1/sessions', { 'x-api-key': secret }, odd)).status).toBe(403);
        // A session that another key has created with a worktree is not continued either.
        const made = JSON.parse((await create(test.key, part)).text) as { id: string; resources: { mode: string }[] };
        expect(made.resources[0]?.mode).toBe('worktree');
        const events = [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }];
        const at = `/v1/sessions/${made.id}/events`;
        expect((await send(test.server, 'POST', at, { 'x-api-key': secret }, { events })).status).toBe(403);
        const { secret: whole } = await createTestKey(test, { directories: [path] });
        expect((await create(whole, part)).status).toBe(200);
      },
      { allowedDirectories: [root] },
    );
  }));

it('[ID42] a key with limits creates approval rules only of sessions that it may use', () =>
  withServer(async (test) => {
    const agent = await test.client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const environment = await test.client.beta.environments.create({ name: 'here' });
    const session = await test.client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const { secret: limited } = await createTestKey(test, { engines: ['model'] });
    const { secret: scripted } = await createTestKey(test, { engines: ['scripted'] });
    const create = async (key: string, scope: object) => {
      const rule = { scope, tool: 'bash', match: { type: 'command', pattern: 'echo *' } };
      const { status, error } = await send(test.server, 'POST', RULES, { 'x-api-key': key }, rule);
      return [status, error.details?.['error_code']];
    };
    const [ofSession, ofAgent] = [
      { type: 'session', session_id: session.id },
      { type: 'agent', agent_id: agent.id },
    ];
    expect(await create(limited, ofSession)).toEqual([403, 'key_limited']);
    expect(await create(limited, ofAgent)).toEqual([403, 'key_limited']);
    expect(await create(scripted, ofAgent)).toEqual([403, 'key_limited']);
    expect(await create(scripted, ofSession)).toEqual([200, undefined]);
    expect(await create(test.key, ofAgent)).toEqual([200, undefined]);
  }));

const RULES = '/v1/fleet/approval_rules';

it('[ID5] a key that expires and one whose old secret runs out are refused, and their streams end within a second', () =>
  withServer(async (test) => {
    const { keys, close } = await openKeys({ dataDirectory: test.directory });
    const { secret, id } = await createTestKey(test, {});
    const open = async (key: string) => {
      const response = await fetch(`${test.url}/v1/fleet`, { headers: { 'x-api-key': key } });
      return { status: response.status, end: async () => void (await response.text()) };
    };
    const stream = await open(secret);
    const until = Date.now() + 2_000;
    const rotated = (await keys.rotate(id, { overlapMs: 2_000 }))!;
    await vi.waitFor(async () => expect((await open(rotated.secret)).status).toBe(200), 5_000);
    expect((await open(secret)).status).toBe(200);
    await stream.end();
    expect(Date.now()).toBeGreaterThanOrEqual(until - 50);
    expect(Date.now() - until).toBeLessThan(PATIENCE_MS);
    expect((await open(secret)).status).toBe(401);
    expect((await open(rotated.secret)).status).toBe(200);
    expect((await keys.list()).filter((key) => key.id === id)).toHaveLength(1);

    const expiresAt = Date.now() + 2_000;
    const short = await open((await createTestKey(test, { expiresAt })).secret);
    await short.end();
    expect(Date.now() - expiresAt).toBeLessThan(PATIENCE_MS);
    await close();
  }));

/** A second, and what a busy machine adds. */
const PATIENCE_MS = 4_000;

it('[ID8] a login has the scopes of its role and of its key, gives away no more, is listed, and ends with its revocation', () =>
  withServer(async (test) => {
    const own = { origin: `http://127.0.0.1:${test.server.port}` };
    for (const [role, scopes] of Object.entries(ROLES)) {
      const cookie = await signInAs(test, role);
      const settings = JSON.parse((await send(test.server, 'GET', '/v1/fleet/settings', { cookie })).text);
      expect(settings).toMatchObject({ role, scopes });
      expect(settings.keys).toHaveLength(1);
      const agent = { name: role, model: 'scripted/echo' };
      const made = await send(test.server, 'POST', '/v1/agents', { cookie, ...own }, agent);
      expect([role, made.status]).toEqual([role, role === 'operator' || role === 'admin' ? 200 : 403]);
      const link = await send(test.server, 'POST', '/v1/login_links', { cookie, ...own }, { role: 'admin' });
      expect([role, link.status]).toEqual([role, role === 'admin' ? 200 : 403]);
    }
    // A link without a role has the rights of its creator, and a limited key gives no more than it has.
    const viewer = await signInAs(test, 'viewer');
    const again = await send(test.server, 'POST', '/v1/login_links', { cookie: viewer, ...own }, {});
    const visit = await send(test.server, 'GET', (JSON.parse(again.text) as { path: string }).path, {});
    const copy = (visit.headers['set-cookie'] as string[])[0]!.split(';')[0]!;
    expect(
      (await send(test.server, 'POST', '/v1/agents', { cookie: copy, ...own }, { name: 'x', model: 'scripted/echo' }))
        .status,
    ).toBe(403);
    const { secret } = await createTestKey(test, { scopes: ['read', 'run'] });
    const refused = await send(test.server, 'POST', '/v1/login_links', { 'x-api-key': secret }, { role: 'operator' });
    expect([refused.status, refused.error.details?.['scopes']]).toEqual([403, ['approve', 'manage']]);

    const admin = { 'x-api-key': test.key };
    const list = async () => JSON.parse((await send(test.server, 'GET', '/v1/fleet/logins', admin)).text).data;
    const logins = (await list()) as { id: string; role: string; address: string }[];
    expect(logins).toHaveLength(6);
    const [newest] = logins;
    expect(newest).toMatchObject({ role: 'viewer', address: '127.0.0.1' });
    const stream = await fetch(`${test.url}/v1/fleet`, { headers: { cookie: copy } });
    expect((await send(test.server, 'DELETE', `/v1/fleet/logins/${newest!.id}`, admin)).status).toBe(200);
    const revokedAt = Date.now();
    await stream.text();
    expect(Date.now() - revokedAt).toBeLessThan(PATIENCE_MS);
    expect((await send(test.server, 'GET', '/v1/agents', { cookie: copy })).status).toBe(401);
    expect(await list()).toHaveLength(5);
    const { secret: foreign } = await createTestKey(test, { workspaceId: 'wrkspc_other' });
    const theirs = await send(test.server, 'DELETE', `/v1/fleet/logins/${logins[1]!.id}`, { 'x-api-key': foreign });
    expect(theirs.status).toBe(404);
  }));

it('[ID3] docs/keys-and-roles.md lists every route with its scopes as the table has them', () => {
  const text = readFileSync(new URL('../../../docs/keys-and-roles.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `([a-z_.]+)` \| (`[a-z]+`(?:, `[a-z]+`)*) \|$/gm)].map(([, route, scopes]) => [
    route,
    scopes!.replaceAll('`', '').split(', '),
  ]);
  const table = Object.entries(ROUTE_SCOPES).map(([route, scopes]) => [
    route,
    route === 'sessions.events.send' ? ['approve', 'run'] : [...scopes].sort(),
  ]);
  expect(rows.map(([route, scopes]) => [route, [...(scopes as string[])].sort()])).toEqual(table);
});
