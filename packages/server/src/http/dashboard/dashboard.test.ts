import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createManualClock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { type TestServer, withServer } from '../../../../../test/server/server.suite.ts';
import { openKeyStore } from '../../keys/key-store.ts';
import { sendTo, type TestAnswer, type TestRequest } from '../server/http-server.suite.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { createLoginCodes } from './login-codes.ts';
import { createLogins } from './logins.ts';
import { createWebSessions } from './web-sessions.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fleetloom-pages-'));
  await mkdir(join(directory, 'assets'));
  await writeFile(join(directory, 'index.html'), '<!doctype html><title>dashboard</title>');
  await writeFile(join(directory, 'login.html'), '<!doctype html><title>sign in</title><p><!--problem--></p>');
  await writeFile(join(directory, 'manifest.webmanifest'), '{}');
  await writeFile(join(directory, 'icon-192.png'), '');
  await writeFile(join(directory, 'assets', 'main-12345678.js'), 'export {};\n'.repeat(200));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

interface Pages extends TestServer {
  readonly ask: (request: TestRequest) => Promise<TestAnswer>;
  /** The cookie of a browser that has used the login link. */
  readonly signIn: () => Promise<string>;
}

function withPages(run: (pages: Pages) => Promise<void>, options: { isOpen?: boolean } = {}): Promise<void> {
  return withServer(
    (test) => {
      const ask = (request: TestRequest) =>
        sendTo(test.server, { ...request, headers: { host: `127.0.0.1:${test.server.port}`, ...request.headers } });
      const signIn = async () => {
        const { headers } = await ask({ path: pathOf(await test.server.dashboardUrl()) });
        return cookieOf(headers['set-cookie']);
      };
      return run({ ...test, ask, signIn });
    },
    { dashboardDirectory: directory, ...options },
  );
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function cookieOf(header: string[] | undefined): string {
  return header?.[0]?.split(';')[0] ?? '';
}

describe('the pages', () => {
  it('[Z1] pages have a policy that allows only files of this server, and are revalidated each time', () =>
    withPages(async ({ ask, signIn }) => {
      const { status, headers, text } = await ask({ path: '/', headers: { cookie: await signIn() } });
      expect([status, text]).toEqual([200, '<!doctype html><title>dashboard</title>']);
      const policy = String(headers['content-security-policy']).split('; ');
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "connect-src 'self'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
        ]),
      );
      expect(policy.join()).not.toMatch(/unsafe|http|\*/);
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
        'content-type': 'text/html; charset=utf-8',
      });
    }));

  it('[H200] the web manifest and its icons are served without a login, and the policy allows the manifest of this server only', () =>
    withPages(async ({ ask, signIn }) => {
      const manifest = await ask({ path: '/manifest.webmanifest' });
      expect([manifest.status, manifest.headers['content-type']]).toEqual([200, 'application/manifest+json']);
      const icon = await ask({ path: '/icon-192.png' });
      expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/png']);
      const { headers } = await ask({ path: '/', headers: { cookie: await signIn() } });
      expect(String(headers['content-security-policy']).split('; ')).toContain("manifest-src 'self'");
    }));

  it('[Z1] a file with a hash in its name is cached forever, an unchanged file is not sent again, and gzip is used if accepted', () =>
    withPages(async ({ ask, server }) => {
      const path = '/assets/main-12345678.js';
      const plain = await ask({ path });
      expect(plain.headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': 'text/javascript; charset=utf-8',
      });
      const same = await ask({ path, headers: { 'if-none-match': String(plain.headers.etag) } });
      expect([same.status, same.text]).toEqual([304, '']);
      const zipped = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'accept-encoding': 'gzip' } });
      expect(zipped.headers.get('content-encoding')).toBe('gzip');
      expect(await zipped.text()).toBe(plain.text);
    }));

  it('[Z1] no other file can be reached, and the paths of the API stay reachable', () =>
    withPages(async ({ ask }) => {
      for (const path of [
        '/assets/../index.html',
        '/assets/..%2flogin.html',
        '/assets/nothing.js',
        '/index.html',
        '/web',
      ]) {
        const { status } = await ask({ path });
        expect([path, status]).toEqual([path, 404]);
      }
      expect((await ask({ path: '/healthz' })).status).toBe(200);
      expect((await ask({ path: '/v1/agents' })).status).toBe(401);
    }));

  it('[Z9] without built pages the API works, and the page explains how to build them', () =>
    withServer(
      async ({ server }) => {
        const { status, text } = await sendTo(server, { path: '/' });
        expect([status, text]).toEqual([503, expect.stringContaining('npm run build')]);
        expect((await sendTo(server, { path: '/v1/agents' })).status).toBe(200);
      },
      { isOpen: true, dashboardDirectory: join(tmpdir(), 'fleetloom-no-such-directory') },
    ));
});

describe('signing in', () => {
  it('[Z2] the link signs one browser in, once: afterwards the page states that it was used', () =>
    withPages(async ({ ask, server, key }) => {
      const path = pathOf(await server.dashboardUrl());
      expect(path).not.toContain(key);
      const first = await ask({ path });
      const [set] = first.headers['set-cookie']!;
      expect(set).toMatch(
        new RegExp(
          `^fleetloom_${server.port}=fleetloom_web_[\\w.-]+; Path=/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`,
        ),
      );
      expect([first.status, first.headers['cache-control']]).toEqual([200, 'no-store']);
      expect(set).not.toContain(key);
      const again = await ask({ path });
      expect([again.status, again.headers['set-cookie']]).toEqual([403, undefined]);
      expect(again.text).toContain('has been used');
      expect((await ask({ path: '/v1/agents', headers: { cookie: cookieOf([set!]) } })).status).toBe(200);
    }));

  it('[Z263] a login link opens the page that it names, if the name has only letters', () =>
    withPages(async ({ ask, server }) => {
      const target = async (page: string) => {
        const { text } = await ask({ path: `${pathOf(await server.dashboardUrl())}&page=${page}` });
        return /content="0;url=([^"]*)"/.exec(text)?.[1];
      };
      expect(await target('fleet')).toBe('./#/fleet');
      expect(await target('a'.repeat(20))).toBe(`./#/${'a'.repeat(20)}`);
      for (const page of ['a'.repeat(21), '', 'Fleet', '%22%3E%3Cscript%3E', 'a/b'])
        expect(await target(page)).toBe('./');
    }));

  it('[H101] a login link survives HEAD, prefetches, previews and embedding, and then works for the visit', () =>
    withPages(async ({ ask, server }) => {
      const path = pathOf(await server.dashboardUrl());
      const looks: TestRequest[] = [
        { method: 'HEAD', path },
        { path, headers: { 'sec-purpose': 'prefetch;prerender' } },
        { path, headers: { purpose: 'prefetch' } },
        { path, headers: { 'x-moz': 'prefetch' } },
        { path, headers: { 'x-purpose': 'preview' } },
        { path, headers: { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate' } },
        { method: 'OPTIONS', path },
      ];
      for (const look of looks) {
        const { status, headers } = await ask(look);
        expect([look, headers['set-cookie']]).toEqual([look, undefined]);
        expect([200, 404, 503]).toContain(status);
      }
      const visit = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' };
      expect((await ask({ path, headers: visit })).headers['set-cookie']).toHaveLength(1);
      expect((await ask({ path, headers: visit })).status).toBe(403);
    }));

  it('[Z2] a code expires, and above the limit the oldest of the same key is dropped', async () => {
    const clock = createManualClock(0);
    const codes = createLoginCodes(createMemoryStore({ clock }));
    const visitor = { keyId: 'key_1', workspaceId: 'w' };
    const late = await codes.make(visitor);
    clock.advance(httpLimits.loginCodeMs);
    expect(await codes.take(late)).toBeUndefined();
    const intime = await codes.make(visitor);
    clock.advance(httpLimits.loginCodeMs - 1);
    expect(await codes.take(intime)).toEqual(visitor);
    const many: string[] = [];
    for (let count = 0; count <= httpLimits.loginCodesMax; count++) many.push(await codes.make(visitor));
    expect([await codes.take(many[0]!), await codes.take(many[1]!)]).toEqual([undefined, visitor]);
  });

  it('[H210] login links of one workspace use up none of another', async () => {
    const clock = createManualClock();
    const codes = createLoginCodes(createMemoryStore({ clock }));
    const other = { keyId: 'key_2', workspaceId: 'other' };
    const code = await codes.make(other);
    const many: string[] = [];
    for (let count = 0; count < 2 * httpLimits.loginCodesMax; count++) {
      many.push(await codes.make({ keyId: 'key_1', workspaceId: 'w' }));
    }
    expect(await codes.take(many[httpLimits.loginCodesMax - 1]!)).toBeUndefined();
    expect(await codes.take(many[httpLimits.loginCodesMax]!)).toMatchObject({ workspaceId: 'w' });
    expect(await codes.take(code)).toEqual(other);
  });

  it('[Z3] a browser without a cookie is redirected to the sign-in page, which accepts a key and refuses a wrong one', () =>
    withPages(async ({ ask, key, server }) => {
      const away = await ask({ path: '/' });
      expect([away.status, away.headers.location]).toEqual([303, './login']);
      expect((await ask({ path: '/login' })).text).toContain('sign in');
      const origin = `http://127.0.0.1:${server.port}`;
      const form = (value: string) => ({
        method: 'POST',
        path: '/login',
        headers: { origin },
        body: new URLSearchParams({ key: value }).toString(),
      });
      const wrong = await ask(form('fleetloom_api_<b>'));
      expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined]);
      expect(wrong.text).toContain('not known to the server');
      const right = await ask(form(` ${key} `));
      const cookie = cookieOf(right.headers['set-cookie']);
      expect((await ask({ path: '/', headers: { cookie } })).status).toBe(200);
      expect((await ask({ path: '/login', headers: { cookie } })).status).toBe(303);
      const long = await ask(form('x'.repeat(httpLimits.loginBodyBytesMax)));
      expect(long.status).toBe(413);
    }));

  it('[Z3] the key of a worker cannot sign in', () =>
    withPages(async ({ ask, client, server }) => {
      const environment = await client.beta.environments.create({ name: 'e', config: { type: 'self_hosted' } });
      const { secret } = await client.post<{ secret: string }>(`/v1/environments/${environment.id}/keys`, {
        body: { name: 'k' },
      });
      const body = new URLSearchParams({ key: secret }).toString();
      const answer = await ask({
        method: 'POST',
        path: '/login',
        headers: { origin: `http://127.0.0.1:${server.port}` },
        body,
      });
      expect(answer.status).toBe(401);
    }));

  it('[Z7] signing out removes the cookie', () =>
    withPages(async ({ ask, signIn, server }) => {
      const cookie = await signIn();
      const out = await ask({
        method: 'POST',
        path: '/logout',
        headers: { cookie, origin: `http://127.0.0.1:${server.port}` },
      });
      expect(out.headers['set-cookie']![0]).toContain('Max-Age=0');
    }));

  it('[Z8] a server that needs no key has a dashboard without sign-in', () =>
    withPages(
      async ({ ask, server, url }) => {
        expect(await server.dashboardUrl()).toBe(`${url}/`);
        expect((await ask({ path: '/' })).status).toBe(200);
      },
      { isOpen: true },
    ));
});

describe('the cookie', () => {
  it('[Z5] has the rights of its key, also after a restart of the server', () =>
    withPages(async ({ ask, signIn, restart }) => {
      const cookie = await signIn();
      const name = cookie.split('=')[0]!;
      expect((await ask({ path: '/v1/agents', headers: { cookie: `a=b; ${cookie}; c=d` } })).status).toBe(200);
      const later = await restart();
      const moved = cookie.replace(name, `fleetloom_${later.server.port}`);
      const answer = await sendTo(later.server, {
        path: '/v1/agents',
        headers: { cookie: moved, host: `127.0.0.1:${later.server.port}` },
      });
      expect(answer.status).toBe(200);
    }));

  it('[Z5] of another server on this host, or changed, or with a key as its value, is refused', () =>
    withPages(async ({ ask, signIn, server, key }) => {
      const cookie = await signIn();
      const mine = `fleetloom_${server.port}=`;
      const value = cookie.slice(mine.length);
      const changed = `${mine}${value.slice(0, -2)}${value.endsWith('AA') ? 'BB' : 'AA'}`;
      const others = [
        cookie.replace(mine, 'fleetloom_1='),
        changed,
        `${mine}${key}`,
        `${mine}fleetloom_web_x`,
        `${mine}fleetloom_web_a.b.c`,
      ];
      for (const other of others)
        expect((await ask({ path: '/v1/agents', headers: { cookie: other } })).status).toBe(401);
    }));

  it('[Z5] expires, and ends when its key is revoked', async () => {
    const clock = createManualClock(Date.UTC(2026, 0, 1));
    const { keys } = await openKeyStore({ directory: join(directory, 'keys'), clock });
    const logins = createLogins(createMemoryStore({ clock }), clock);
    const sessions = createWebSessions({ signingKey: new Uint8Array(32), clock, keys, logins });
    const { key } = await keys.create({ kind: 'api', name: 'mine', workspaceId: 'wrkspc_mine' });
    const { token } = (await sessions.issue({ keyId: key.id, workspaceId: key.workspaceId }))!;
    expect(await sessions.find(token)).toEqual({
      kind: 'api',
      id: key.id,
      workspaceId: 'wrkspc_mine',
      name: 'mine',
      login: { id: expect.any(String) },
    });
    clock.advance(httpLimits.webSessionMs - 1);
    expect(await sessions.find(token)).toBeDefined();
    clock.advance(1);
    expect(await sessions.find(token)).toBeUndefined();
    const { token: other } = (await sessions.issue({ keyId: key.id, workspaceId: key.workspaceId }))!;
    await keys.revoke(key.id);
    expect(await sessions.find(other)).toBeUndefined();
  });

  it('[Z6] needs the Origin of a page of this server for requests that change something; a key does not', () =>
    withPages(async ({ ask, signIn, server, key }) => {
      const cookie = await signIn();
      const create = (headers: Record<string, string>) =>
        ask({ method: 'POST', path: '/v1/environments', headers, body: { name: 'e' } });
      expect((await create({ cookie })).status).toBe(403);
      expect((await create({ cookie, origin: 'null' })).status).toBe(403);
      expect((await create({ cookie, origin: 'http://127.0.0.1:1' })).status).toBe(403);
      expect((await create({ cookie, origin: 'https://evil.example' })).status).toBe(403);
      expect((await create({ cookie, origin: `http://127.0.0.1:${server.port}` })).status).toBe(200);
      expect((await create({ authorization: `Bearer ${key}` })).status).toBe(200);
    }));
});
