import { request } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';
import { type Clock, createManualClock } from '../../../packages/server/src/base/clock.ts';
import { httpLimits } from '../../../packages/server/src/http/limits.ts';
import { keyLimits } from '../../../packages/server/src/keys/limits.ts';
import { createSessionTokens } from '../../../packages/server/src/keys/session-tokens.ts';
import { createLogins } from '../../../packages/server/src/http/dashboard/logins.ts';
import { sendTo, withHttpServer } from '../../../packages/server/src/http/server/http-server.suite.ts';
import type { RequestLogEntry } from '../../../packages/server/src/base/request-log.ts';
import { defineRoute } from '../../../packages/server/src/http/routing/route.ts';
import { outcomeOf } from '../../../packages/server/src/http/routes/records.suite.ts';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { type FleetloomServer, startOn, startServer } from '../../../packages/server/src/server.ts';
import { connect, type TestServer, toScript, withServer } from '../server.suite.ts';
import { createMemoryStore } from '../../../packages/server/src/store/memory/memory-store.ts';
import { openPostgresStore } from '../../../packages/server/src/store/postgres/postgres-store.ts';

it('[H113] every stream of a revoked key ends in order within a second, the reason is logged, and streams of other keys continue', async () => {
  const requests: RequestLogEntry[] = [];
  const log = { onRequest: (entry: RequestLogEntry) => void requests.push(entry) };
  await withServer(
    async (test) => {
      const session = await runSlowly(test);
      const { keys, close } = await openKeys({ dataDirectory: test.directory });
      const { secret, key } = await keys.create({ kind: 'api', name: 'revoked' });
      const headers = { 'x-api-key': secret };
      await vi.waitFor(async () => expect(await statusOf(test.server, '/v1/sessions', headers)).toBe(200));
      const [run] = (await getJson(test, '/v1/requests')).data as { request_id: string }[];
      const [thread] = (await getJson(test, `/v1/sessions/${session}/threads`)).data as { id: string }[];
      const paths = [
        `/v1/sessions/${session}/events/stream`,
        `/v1/sessions/${session}/threads/${thread!.id}/stream`,
        `/v1/sessions/${session}/fleet`,
        '/v1/fleet',
        `/v1/requests/${run!.request_id}/events`,
      ];
      const streams = await Promise.all(paths.map((path) => openStream(test.server, path, headers)));
      const mine = await openStream(test.server, '/v1/fleet', { 'x-api-key': test.key });
      const scripted = await openScripted(test, secret);
      expect(await keys.revoke(key.id)).toBe(true);
      const revokedAt = performance.now();
      const ends = await Promise.all(streams.map(({ ended }) => ended));
      expect(performance.now() - revokedAt).toBeLessThan(PATIENCE_MS);
      expect(ends.map(({ isWhole }) => isWhole)).toEqual(paths.map(() => true));
      expect((await scripted.ended).isWhole).toBe(false);
      expect(mine.isOpen()).toBe(true);
      expect(await statusOf(test.server, '/v1/sessions', headers)).toBe(401);
      await vi.waitFor(() => {
        const ended = requests.filter(({ errorCode }) => errorCode === 'credential_ended');
        const expelled = ended.map(({ path, status, credentialId }) => ({ path, status, credentialId }));
        expect(expelled).toHaveLength(paths.length + 1);
        for (const path of paths) expect(expelled).toContainEqual({ path, status: 200, credentialId: key.id });
      });
      mine.close();
      await close();
    },
    { log },
  );
  // What another process revokes is known after the one, and streams are looked at after the other.
  expect(keyLimits.apiKeysCheckMs + keyLimits.credentialCheckMs).toBeLessThan(1_000);
});

it('[H170] a request whose key is revoked while its body arrives is broken off within a second, and nothing of it is executed', () =>
  withServer(async (test) => {
    const { keys, close } = await openKeys({ dataDirectory: test.directory });
    const { secret, key } = await keys.create({ kind: 'api', name: 'revoked' });
    const headers = { 'x-api-key': secret };
    await vi.waitFor(async () => expect(await statusOf(test.server, '/v1/sessions', headers)).toBe(200));
    const session = await runSlowly(test);
    const message = { type: 'user.message', content: [{ type: 'text', text: 'late' }] };
    const file = '--b\r\ncontent-disposition: form-data; name="file"; filename="late"\r\n\r\nlate\r\n--b--\r\n';
    const late = [
      sendHalf(test.server, '/v1/agents', headers, JSON.stringify({ name: 'late', model: 'scripted/echo' })),
      sendHalf(test.server, `/v1/sessions/${session}/events`, headers, JSON.stringify({ events: [message] })),
      sendHalf(test.server, '/v1/files', { ...headers, 'content-type': 'multipart/form-data; boundary=b' }, file),
    ];
    const mine = { name: 'mine', model: 'scripted/echo' };
    const other = sendHalf(test.server, '/v1/agents', { 'x-api-key': test.key }, JSON.stringify(mine));
    await Promise.all([...late, other].map(({ isUnderWay }) => isUnderWay));
    expect(await keys.revoke(key.id)).toBe(true);
    const revokedAt = performance.now();
    expect(await Promise.all(late.map(({ status }) => status))).toEqual(late.map(() => 'broken off'));
    expect(performance.now() - revokedAt).toBeLessThan(PATIENCE_MS);
    for (const each of late) each.finish();
    other.finish();
    expect(await other.status).toBe(200);
    const agents = (await getJson(test, '/v1/agents')).data as { name: string }[];
    expect(agents.map(({ name }) => name)).not.toContain('late');
    expect((await getJson(test, '/v1/files')).data).toEqual([]);
    expect(JSON.stringify(await getJson(test, `/v1/sessions/${session}/events`))).not.toContain('late');
    await close();
  }));

/** Sends a request with half of its body. */
function sendHalf({ port }: { port: number }, path: string, headers: Record<string, string>, body: string) {
  const bytes = Buffer.from(body);
  const half = bytes.length / 2;
  const type = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    headers: { ...type, ...headers },
    agent: false,
  });
  const status = new Promise<number | 'broken off'>((resolve) => {
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', () => resolve('broken off'));
  });
  const isUnderWay = new Promise<void>((resolve) =>
    sent.write(bytes.subarray(0, half), () => setTimeout(resolve, 100)),
  );
  return { status, isUnderWay, finish: () => sent.end(bytes.subarray(half)) };
}

it('[H113] a stream ends when the token that opened it expires, and stays while the credential cannot be looked up', async () => {
  let isAway = false;
  const tokens = (clock: Clock) =>
    createSessionTokens({
      signingKey: new Uint8Array(32),
      clock,
      isIssuerCurrent: async () => {
        if (isAway) throw new Error('the database is away');
        return true;
      },
    });
  const watch = defineRoute({
    name: 'watch',
    summary: 'A stream',
    method: 'get',
    path: '/v1/watch',
    accepts: ['session'],
    gives: 'stream',
    handle: async ({ openStream: open }) => open(),
  });
  await withHttpServer(
    (_, clock) => ({ routes: [watch], access: tokens(clock) }),
    async ({ server, clock, advance, errors }) => {
      const fields = { workspaceId: 'w', environmentId: 'env_1', sessionId: 'sesn_1', keyId: 'key_1', ttlMs: 60_000 };
      const headers = { authorization: `Bearer ${tokens(clock).issue(fields)}` };
      const stream = await openStream(server, '/v1/watch', headers);
      isAway = true;
      for (let round = 0; round < 3; round++) {
        advance(keyLimits.credentialCheckMs);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(errors.map(String)).toEqual(['Error: the database is away']);
      expect(stream.isOpen()).toBe(true);
      isAway = false;
      advance(60_000);
      expect((await stream.ended).isWhole).toBe(true);
      expect(await statusOf(server, '/v1/watch', headers)).toBe(401);
    },
  );
});

it('[H114] a session token ends with the environment key that it was made with, and so does its stream', () =>
  withServer(async (test) => {
    const { environment, work } = await selfHosted(test);
    const [first, second] = [await work(), await work()];
    const path = `/v1/sessions/${first.session}/events/stream`;
    const stream = await openStream(test.server, path, { authorization: `Bearer ${first.token}` });
    const other = await openStream(test.server, `/v1/sessions/${second.session}/events/stream`, {
      authorization: `Bearer ${second.token}`,
    });
    await test.client.delete(`/v1/environments/${environment}/keys/${first.keyId}`);
    expect((await stream.ended).isWhole).toBe(true);
    const read = ({ token, session }: { token: string; session: string }) =>
      outcomeOf(new Anthropic({ baseURL: test.url, authToken: token, maxRetries: 0 }).beta.sessions.retrieve(session));
    expect(await read(first)).toBe('401 authentication_error');
    expect(await read(second)).toBe('ok');
    expect(other.isOpen()).toBe(true);
    // Also tokens that were made with an API key end with their environment.
    const third = await work(test.key);
    expect(await read(third)).toBe('ok');
    await test.client.beta.environments.delete(environment);
    expect((await other.ended).isWhole).toBe(true);
    await vi.waitFor(async () => {
      expect(await read(second)).toBe('401 authentication_error');
      expect(await read(third)).toBe('401 authentication_error');
    });
    const { keys, close } = await openKeys({ dataDirectory: test.directory });
    expect((await keys.list()).map(({ kind }) => kind)).toEqual(['api']);
    await close();
  }));

it('[H115] signing out ends that login: its cookie and the streams of its tabs, and no other login', () =>
  withServer(async (test) => {
    const [mine, other] = [await signIn(test.server), await signIn(test.server)];
    const tab = await openStream(test.server, '/v1/fleet', { cookie: mine });
    const elsewhere = await openStream(test.server, '/v1/fleet', { cookie: other });
    await signOut(test.server, mine);
    expect((await tab.ended).isWhole).toBe(true);
    expect(await statusOf(test.server, '/v1/sessions', { cookie: mine })).toBe(401);
    expect(await statusOf(test.server, '/v1/sessions', { cookie: other })).toBe(200);
    expect(elsewhere.isOpen()).toBe(true);
    elsewhere.close();
    const later = await test.restart();
    const moved = (cookie: string) => cookie.replace(/^fleetloom_\d+/, `fleetloom_${later.server.port}`);
    expect(await statusOf(later.server, '/v1/sessions', { cookie: moved(mine) })).toBe(401);
    expect(await statusOf(later.server, '/v1/sessions', { cookie: moved(other) })).toBe(200);
  }));

it('[H115] expired logins are removed, and of too many the oldest is signed out', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const store = createMemoryStore({ clock });
  const logins = createLogins(store, clock);
  const has = async (login: { readonly id: string } | undefined) => (await logins.find(login?.id)) !== undefined;
  const old = await logins.begin({ workspaceId: 'w1', expiresAt: clock.now() + 1_000 });
  clock.advance(1_000);
  const begun: ({ readonly id: string } | undefined)[] = [];
  for (let index = 0; index <= httpLimits.loginsMax; index++) {
    clock.advance(1);
    begun.push(await logins.begin({ workspaceId: 'w1', expiresAt: clock.now() + httpLimits.webSessionMs }));
  }
  expect(await has(old)).toBe(false);
  expect(await Promise.all([begun[0], begun[1], begun.at(-1)].map(has))).toEqual([false, true, true]);
});

it('[H164] logins are counted for each workspace: those of one sign out no browser of another', async () => {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const logins = createLogins(createMemoryStore({ clock }), clock);
  const has = async (login: { readonly id: string } | undefined) => (await logins.find(login?.id)) !== undefined;
  const begin = (workspaceId: string) => {
    clock.advance(1);
    return logins.begin({ workspaceId, expiresAt: clock.now() + httpLimits.webSessionMs });
  };
  const other = await begin('w2');
  const first = await begin('w1');
  for (let count = 1; count < httpLimits.loginsMax; count++) await begin('w1');
  expect([await has(first), await has(other)]).toEqual([true, true]);
  await begin('w1');
  expect([await has(first), await has(other)]).toEqual([false, true]);
  expect(httpLimits.loginsMax).toBe(2_000);
});

it('[P100] a server with a database and without a secret is refused before it connects', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-no-secret-'));
  onTestFinished(() => rm(dataDirectory, { recursive: true, force: true }));
  const start = (secret: string) => startServer({ dataDirectory, database: 'postgres://127.0.0.1:1/none', secret });
  await expect(start('')).rejects.toThrow('with a database, FLEETLOOM_SECRET has to be set');
  await expect(start('short')).rejects.toThrow(
    'FLEETLOOM_SECRET has 5 characters, and needs at least 32: run `openssl',
  );
});

it('[P102] a credential that one node revokes or signs out ends on the others within 2 s: requests and open streams', async () => {
  const database = await testDatabase();
  const open = async (): Promise<FleetloomServer> => {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'fleetloom-revoke-node-'));
    const server = await startOn({ dataDirectory }, await openPostgresStore(database), true);
    onTestFinished(async () => {
      await server.close();
      await rm(dataDirectory, { recursive: true, force: true });
    });
    return server;
  };
  const [one, two] = [await open(), await open()];
  const client = connect(one.url, one.firstKey);
  const environment = await client.beta.environments.create({ name: 'ours', config: { type: 'self_hosted' } });
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const { id: session } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const { id, secret } = await client.post<{ id: string; secret: string }>(`/v1/environments/${environment.id}/keys`);
  const path = `/v1/sessions/${session}/events/stream`;
  const worker = await openStream(two, path, { authorization: `Bearer ${secret}` });
  await client.delete(`/v1/environments/${environment.id}/keys/${id}`);
  const revokedAt = performance.now();
  expect((await worker.ended).isWhole).toBe(true);
  expect(performance.now() - revokedAt).toBeLessThan(PATIENCE_MS);
  const cookie = await signIn(one);
  const atTwo = cookie.replace(/^fleetloom_\d+/, `fleetloom_${two.port}`);
  const tab = await openStream(two, '/v1/fleet', { cookie: atTwo });
  await signOut(one, cookie);
  expect((await tab.ended).isWhole).toBe(true);
  expect(await statusOf(two, '/v1/sessions', { cookie: atTwo })).toBe(401);
});

/** A second on a machine that has nothing else to do. */
const PATIENCE_MS = 5_000;

// --- what a test does with a server ---

interface OpenedStream {
  readonly isOpen: () => boolean;
  /** Whether it came to an orderly end. */
  readonly ended: Promise<{ readonly isWhole: boolean }>;
  readonly close: () => void;
}

function openStream({ port }: { readonly port: number }, path: string, headers: Record<string, string>, body?: object) {
  return new Promise<OpenedStream>((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request({ host: '127.0.0.1', port, path, method, agent: false, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${path} was answered with ${response.statusCode}`));
      let isOpen = true;
      const ended = new Promise<{ isWhole: boolean }>((end) => {
        response.on('close', () => {
          isOpen = false;
          end({ isWhole: response.complete });
        });
      });
      response.on('error', () => {}).resume();
      resolve({ isOpen: () => isOpen, ended, close: () => sent.destroy() });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function statusOf(
  server: { readonly port: number },
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  return (await sendTo(server, { path, headers })).status;
}

async function getJson({ server, key }: TestServer, path: string): Promise<Record<string, unknown>> {
  return (await sendTo(server, { path, headers: { 'x-api-key': key } })).json as Record<string, unknown>;
}

/** A session in the middle of a run. */
async function runSlowly({ client }: TestServer): Promise<string> {
  const system = toScript([[{ sleep_ms: 60_000 }, { say: 'late' }]]);
  const agent = await client.beta.agents.create({ name: 'slow', model: 'scripted/inline', system });
  const environment = await client.beta.environments.create({ name: 'here' });
  const { id } = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
  const content = [{ type: 'text' as const, text: 'go' }];
  await client.beta.sessions.events.send(id, { events: [{ type: 'user.message', content }] });
  await vi.waitFor(async () => expect((await client.beta.sessions.retrieve(id)).status).toBe('running'));
  return id;
}

/** An answer of the scripted model that takes its time. */
function openScripted({ server }: TestServer, secret: string): Promise<OpenedStream> {
  const headers = { 'x-api-key': secret, 'content-type': 'application/json' };
  return openStream(server, '/scripted/v1/messages', headers, {
    model: 'inline',
    max_tokens: 100,
    stream: true,
    system: toScript([[{ say: 'a' }, { sleep_ms: 60_000 }, { say: 'b' }]]),
    messages: [{ role: 'user', content: 'go' }],
  });
}

/** A self-hosted environment whose work is taken with a new environment key each time, or with the key that is given. */
async function selfHosted({ client, url }: TestServer) {
  const { id: environment } = await client.beta.environments.create({ name: 'ours', config: { type: 'self_hosted' } });
  const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
  const work = async (given?: string) => {
    await client.beta.sessions.create({ agent: agent.id, environment_id: environment });
    const made =
      given === undefined
        ? await client.post<{ id: string; secret: string }>(`/v1/environments/${environment}/keys`)
        : { id: '', secret: given };
    const worker = new Anthropic({ baseURL: url, authToken: made.secret, maxRetries: 0 });
    const item = (await worker.beta.environments.work.poll(environment, {}))!;
    const { sessions_token: token } = JSON.parse(Buffer.from(item.secret!, 'base64url').toString()) as {
      sessions_token: string;
    };
    return { keyId: made.id, token, session: item.data.id };
  };
  return { environment, work };
}

async function signIn(server: FleetloomServer): Promise<string> {
  const { pathname, search } = new URL(await server.dashboardUrl());
  const headers = { host: `127.0.0.1:${server.port}` };
  const answer = await sendTo(server, { path: `${pathname}${search}`, headers });
  return answer.headers['set-cookie']![0]!.split(';')[0]!;
}

async function signOut(server: FleetloomServer, cookie: string): Promise<void> {
  const origin = `http://127.0.0.1:${server.port}`;
  await sendTo(server, { method: 'POST', path: '/logout', headers: { cookie, origin } });
}
