import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toGitHosts } from './git-hosts.ts';
import { createProxyServer } from './create-proxy-server.ts';
import { createGitProxy, type GitProxyOptions } from './git-proxy.ts';
import { openUpstream } from './open-upstream.ts';

const REFS = '/git/sesrsc_1~/info/refs?service=git-upload-pack';
const ANSWER = { 'content-type': 'application/x-git-upload-pack-advertisement' };

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A proxy before a host that answers with this. */
async function openProxy(answer: RequestListener, changed: Partial<GitProxyOptions> = {}) {
  const host = await listen(createServer(answer));
  const statuses: number[] = [];
  const proxy = await listen(
    createServer(
      createGitProxy({
        hosts: toGitHosts([host]),
        resolveHost: async () => [],
        push: 'all',
        find: async (id) =>
          id === 'sesrsc_1'
            ? { url: `${host}/a/b`, serviceUrl: `${host}/a/b.git`, readToken: async () => 'ghp_canary' }
            : undefined,
        onRefused: (status) => statuses.push(status),
        ...changed,
      }),
    ),
  );
  return { proxy, host, statuses };
}

describe('the git proxy', () => {
  it('[WS190] adds the token and sends nothing else of the client but what git needs', async () => {
    const seen: unknown[] = [];
    const { proxy } = await openProxy((request, response) => {
      seen.push([request.method, request.url, request.headers]);
      response.writeHead(200, { ...ANSWER, 'set-cookie': 'a=b', 'www-authenticate': 'Basic' }).end('refs');
    });
    const response = await fetch(`${proxy}${REFS}`, {
      headers: {
        authorization: 'Basic eDp5',
        cookie: 'a=b',
        'git-protocol': 'version=2',
        'x-forwarded-for': '1.2.3.4',
      },
    });
    expect([response.status, await response.text()]).toEqual([200, 'refs']);
    expect(response.headers.get('set-cookie') ?? response.headers.get('www-authenticate')).toBeNull();
    const [method, url, headers] = seen[0] as [string, string, Record<string, string>];
    expect([method, url]).toEqual(['GET', '/a/b.git/info/refs?service=git-upload-pack']);
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from('x-access-token:ghp_canary').toString('base64')}`,
      'git-protocol': 'version=2',
    });
    expect(Object.keys(headers).filter((name) => name === 'cookie' || name.startsWith('x-'))).toEqual([]);
  });

  it.each([
    ['GET', '/git/sesrsc_1~-tools/info/refs?service=git-upload-pack', '-tools/info/refs?service=git-upload-pack'],
    ['GET', '/git/sesrsc_1~s.git/info/refs?service=git-receive-pack', 's.git/info/refs?service=git-receive-pack'],
    ['GET', '/git/sesrsc_1~s/c/info/refs?service=git-upload-pack', 's/c/info/refs?service=git-upload-pack'],
    ['GET', '/git/sesrsc_2~s/info/refs?service=git-upload-pack', undefined],
    ['GET', '/git/sesrsc_1~s/HEAD', undefined],
    ['GET', '/git/sesrsc_1~s%0d%0aa:b/info/refs?service=git-upload-pack', undefined],
    ['POST', '/git/sesrsc_1~s/git-upload-pack', undefined],
  ])('[WS614] %s %s of a longer URL is sent to the host without the token, or refused', async (method, path, rest) => {
    const { proxy, host } = await openProxy((_, response) => response.writeHead(500).end());
    const response = await fetch(`${proxy}${path}`, { method, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual(
      rest === undefined ? [403, null] : [302, `${host}/a/b${rest}`],
    );
    expect(JSON.stringify([...response.headers])).not.toContain('canary');
  });

  it.each([
    [401, 403, 'does not accept the token'],
    [403, 403, 'may not do this'],
    [404, 404, 'has no such repository'],
    [301, 403, 'use its new URL'],
    [500, 500, 'answered with 500'],
    [429, 429, 'answered with 429'],
    [200, 403, 'does not answer as a git server does'],
  ])(
    '[WS191] an answer %i of the host becomes %i with a reason, without its text and headers',
    async (given, status, reason) => {
      const { proxy, statuses } = await openProxy((_, response) =>
        response.writeHead(given, { location: 'https://evil.example/', 'content-type': 'text/html' }).end('ghp_canary'),
      );
      const response = await fetch(`${proxy}${REFS}`, { redirect: 'manual' });
      const text = await response.text();
      expect(response.status).toBe(status);
      expect(text).toContain(reason);
      expect(text).not.toContain('canary');
      expect(response.headers.get('location')).toBeNull();
      expect(statuses).toEqual([given]);
    },
  );

  it('[WS191] an unknown repository and every other request is refused before the host is asked', async () => {
    let asked = 0;
    const { proxy } = await openProxy((_, response) => void (asked++, response.end()));
    const requests: [string, string][] = [
      ['GET', '/git/sesrsc_2~/info/refs?service=git-upload-pack'],
      ['POST', REFS],
      ['GET', '/git/sesrsc_1~/git-upload-pack'],
      ['PUT', '/git/sesrsc_1~/git-receive-pack'],
      ['GET', '/git/sesrsc_1~/info/refs'],
      ['GET', '/'],
    ];
    for (const [method, path] of requests) expect((await fetch(`${proxy}${path}`, { method })).status).toBe(403);
    expect(asked).toBe(0);
  });

  it('[WS181] a host that was allowed by `*` is not reached at a private address, nor a host that is not allowed', async () => {
    const open = (entries: readonly string[], url: string, addresses: readonly string[]) =>
      openUpstream(
        { hosts: toGitHosts(entries), resolveHost: async () => addresses },
        { url: new URL(url), method: 'GET', headers: {} },
      ).then((request) => request.on('error', () => undefined).destroy());
    for (const address of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1']) {
      await expect(open(['*'], 'https://git.example/a/b', [address])).rejects.toThrow('it is in a private network');
    }
    await expect(open(['*'], 'https://127.0.0.1/a/b', [])).rejects.toThrow('it is in a private network');
    await expect(open(['*'], 'https://git.example/a/b', [])).rejects.toThrow('its name has no address');
    await expect(open([], 'https://git.example/a/b', ['1.1.1.1'])).rejects.toThrow('is not one of the git hosts');
    await open(['git.example'], 'https://git.example/a/b', ['127.0.0.1']);
  });

  it('[WS181] connects to the address that was checked, and only where its certificate is valid', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'fleetloom-tls-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
    const about = ['-subj', '/CN=git.example', '-addext', 'subjectAltName=DNS:git.example', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...about], {
      stdio: 'ignore',
    });
    let asked = 0;
    const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => {
      asked++;
      response.writeHead(200, ANSWER).end('refs');
    });
    const { port } = new URL(await listen(server));
    const open = async (ca: string | undefined, name: string) => {
      const remote = {
        url: `https://${name}/a`,
        serviceUrl: `https://${name}:${port}/a.git`,
        readToken: async () => 'ghp_canary',
      };
      const hosts = toGitHosts([`${name}:${port}`]);
      const { proxy } = await openProxy(() => undefined, {
        hosts,
        resolveHost: async () => ['127.0.0.1'],
        find: async () => remote,
        ca,
      });
      return (await fetch(`${proxy}${REFS}`)).status;
    };
    const ca = readFileSync(cert, 'utf8');
    expect(await open(ca, 'git.example')).toBe(200);
    expect(await open(undefined, 'git.example')).toBe(502);
    expect(await open(ca, 'other.example')).toBe(502);
    expect(asked).toBe(1);
  });

  it('[WS190] has at most 64 connections for a session, each of which may be silent for 5 min', async () => {
    const server = createProxyServer((_, response) => response.end());
    const { port } = new URL(await listen(server));
    const open = () =>
      new Promise<'open' | 'closed'>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => setTimeout(() => resolve('open'), 300));
        socket.on('close', () => resolve('closed')).on('error', () => resolve('closed'));
        onTestFinished(() => void socket.destroy());
      });
    expect(new Set(await Promise.all(Array.from({ length: 64 }, open)))).toEqual(new Set(['open']));
    expect(await open()).toBe('closed');
    expect([server.timeout, server.requestTimeout]).toEqual([300_000, 0]);
  });
});
