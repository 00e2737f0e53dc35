import { expect, it } from 'vitest';
import { openKeys } from '../../../packages/server/src/composition/credentials/open-keys.ts';
import { httpLimits } from '../../../packages/server/src/http/limits.ts';
import { createTestKey, send, signInAs } from './scopes.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';

/** A second, and what a busy machine adds. */
const PATIENCE_MS = 4_000;

const originOf = (test: TestServer) => ({ origin: `http://127.0.0.1:${test.server.port}` });

async function makeLink(test: TestServer, cookie: string): Promise<{ status: number; path: string }> {
  const { status, text } = await send(test.server, 'POST', '/v1/login_links', { cookie, ...originOf(test) }, {});
  return { status, path: (JSON.parse(text) as { path: string }).path };
}

async function visit(test: TestServer, path: string): Promise<{ status: number; cookie: string }> {
  const { status, headers } = await send(test.server, 'GET', path, {});
  return { status, cookie: (headers['set-cookie'] as string[] | undefined)?.[0]?.split(';')[0] ?? '' };
}

async function list(test: TestServer): Promise<{ id: string; made_with: string | null }[]> {
  return JSON.parse((await send(test.server, 'GET', '/v1/fleet/logins', { 'x-api-key': test.key })).text).data;
}

it('[ID61] revoking a login ends the logins, links and session tokens that were made with it, within a second', () =>
  withServer(async (test) => {
    const { client, server } = test;
    const cookie = await signInAs(test, 'operator');
    const id = (await list(test))[0]!.id;
    const made = await visit(test, (await makeLink(test, cookie)).path);
    const deeper = await visit(test, (await makeLink(test, made.cookie)).path);
    const unused = await makeLink(test, made.cookie);
    expect((await list(test)).map(({ made_with: by }) => by)).toEqual([expect.any(String), id, null]);
    const environment = await client.beta.environments.create({ name: 'e', config: { type: 'self_hosted' } });
    const agent = await client.beta.agents.create({ name: 'a', model: 'scripted/echo' });
    const session = await client.beta.sessions.create({ agent: agent.id, environment_id: environment.id });
    const path = `/v1/environments/${environment.id}/work`;
    const polled = await send(server, 'GET', `${path}/poll`, { cookie: made.cookie });
    const { authorization } = findToken(polled.text);
    const statusOf = async (headers: Record<string, string>) =>
      (await send(server, 'GET', `/v1/sessions/${session.id}`, headers)).status;
    expect(await statusOf({ authorization })).toBe(200);
    expect(await statusOf({ cookie: deeper.cookie })).toBe(200);
    const streams = [{ authorization }, { cookie: deeper.cookie }].map(async (headers) => {
      const stream = await fetch(`${test.url}/v1/sessions/${session.id}/events/stream`, { headers });
      return { status: stream.status, ended: stream.text() };
    });
    const opened = await Promise.all(streams);
    expect(opened.map(({ status }) => status)).toEqual([200, 200]);

    await send(server, 'DELETE', `/v1/fleet/logins/${id}`, { 'x-api-key': test.key });
    const revokedAt = performance.now();
    await Promise.all(opened.map(({ ended }) => ended));
    expect(performance.now() - revokedAt).toBeLessThan(PATIENCE_MS);
    for (const headers of [{ cookie }, { cookie: made.cookie }, { cookie: deeper.cookie }, { authorization }]) {
      expect(await statusOf(headers)).toBe(401);
    }
    expect(await visit(test, unused.path)).toEqual({ status: 403, cookie: '' });
    expect(await list(test)).toEqual([]);
  }));

it('[ID61] a login link of a revoked key signs no browser in, and its logins are not listed', () =>
  withServer(async (test) => {
    const { secret, id } = await createTestKey(test, { scopes: ['read'] });
    const cookie = await signInAs(test, undefined, secret);
    const link = await makeLink(test, cookie);
    const { keys, close } = await openKeys({ dataDirectory: test.directory });
    await keys.revoke(id);
    await close();
    await expect
      .poll(async () => (await send(test.server, 'GET', '/v1/models/none', { 'x-api-key': secret })).status)
      .toBe(401);
    expect(await visit(test, link.path)).toEqual({ status: 403, cookie: '' });
    expect(await list(test)).toEqual([]);
  }));

it('[ID63] links are made from links at most three times in a row', () =>
  withServer(async (test) => {
    let cookie = await signInAs(test, 'viewer');
    for (let depth = 1; depth <= httpLimits.loginDepthMax; depth++) {
      const { status, path } = await makeLink(test, cookie);
      expect([depth, status]).toEqual([depth, 200]);
      ({ cookie } = await visit(test, path));
    }
    expect((await makeLink(test, cookie)).status).toBe(400);
    expect(httpLimits.loginDepthMax).toBe(3);
  }));

it('[ID64] a device for push messages is tested and removed by the caller that has added it, or with the scope manage', () =>
  withServer(
    async (test) => {
      const [ann, bob, ops] = [
        await signInAs(test, 'viewer'),
        await signInAs(test, 'viewer'),
        await signInAs(test, 'operator'),
      ];
      const path = '/v1/fleet/push_subscriptions';
      const call = (cookie: string, method: string, to: string, body?: object) =>
        send(test.server, method, `${path}${to}`, { cookie, ...originOf(test) }, body);
      const add = async (cookie: string) => {
        const keys = { p256dh: PUBLIC_KEY, auth: 'AAAAAAAAAAAAAAAAAAAAAA' };
        const { text } = await call(cookie, 'POST', '', { label: 'phone', endpoint: 'https://127.0.0.1:9/x', keys });
        return `/${(JSON.parse(text) as { id: string }).id}`;
      };
      const id = await add(ann);
      const refused = await call(bob, 'DELETE', id);
      expect([refused.status, refused.error.details?.['scopes']]).toEqual([403, ['manage']]);
      expect((await call(bob, 'POST', `${id}/test`, {})).status).toBe(403);
      expect((await call(bob, 'DELETE', '/push_none')).status).toBe(404);
      // The push service is not there, so the test message is not accepted.
      expect((await call(ann, 'POST', `${id}/test`, {})).status).toBe(409);
      expect((await call(ann, 'DELETE', id)).status).toBe(200);
      // Another login of the same browser adds it again with its endpoint, which no response has.
      await add(ann);
      expect((await call(bob, 'DELETE', await add(bob))).status).toBe(200);
      await add(ann);
      expect((await call(ops, 'DELETE', id)).status).toBe(200);
    },
    { allowedPrivateHosts: ['127.0.0.1:9'] },
  ));

/** The point of a real browser's subscription, from the example of RFC 8291. */
const PUBLIC_KEY = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';

function findToken(text: string): { authorization: string } {
  const [token] = /fleetloom_session_[\w.-]+/.exec(text) ?? [];
  const decoded =
    token ??
    /fleetloom_session_[\w.-]+/.exec(
      Buffer.from((JSON.parse(text) as { secret: string }).secret, 'base64url').toString(),
    )![0];
  return { authorization: `Bearer ${decoded}` };
}
