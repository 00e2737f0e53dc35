import { describe, expect, it } from 'vitest';
import { checkSite, isLoopbackHost, type SiteRules } from './check-site.ts';
import { withHttpServer } from '../server/http-server.suite.ts';

const rules: SiteRules = { isLoopback: true, hosts: ['Fleet.example.com'], origins: ['https://app.example.com'] };

function verdict(headers: Record<string, string>, over: Partial<SiteRules> = {}, method = 'GET'): string {
  try {
    checkSite({ ...rules, ...over }, headers, method);
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe('Host', () => {
  it('[H31] loopback names and addresses and configured names are accepted as the host, and no other', () => {
    for (const host of [
      'localhost',
      'LOCALHOST:4000',
      '127.0.0.1:4000',
      '127.9.9.9',
      '[::1]:80',
      'fleet.example.com',
    ]) {
      expect([host, verdict({ host })]).toEqual([host, 'ok']);
    }
    for (const host of [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      '192.0.2.1',
      '[2001:db8::1]',
    ]) {
      expect([host, verdict({ host })]).toEqual([host, 'wrong_host']);
    }
    for (const host of ['', 'a b', 'localhost:x', 'user@localhost', 'localhost/', '[::1']) {
      expect([host, verdict({ host })]).toEqual([host, 'invalid_request']);
    }
    expect(verdict({})).toBe('invalid_request');
  });

  it('[H31] a server that is not on loopback accepts any IP address as the host, but only configured names', () => {
    expect(verdict({ host: '192.0.2.1:4000' }, { isLoopback: false })).toBe('ok');
    expect(verdict({ host: '[2001:db8::1]' }, { isLoopback: false })).toBe('ok');
    expect(verdict({ host: 'evil.example' }, { isLoopback: false })).toBe('wrong_host');
    expect(['127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '128.0.0.1'].map(isLoopbackHost)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('Origin', () => {
  const host = 'localhost:4000';

  it('[H32] pages of the server itself and of allowed origins may call it, others may not', () => {
    expect(verdict({ host, origin: 'http://localhost:4000' }, {}, 'POST')).toBe('ok');
    expect(verdict({ host, origin: 'https://localhost:4000' }, {}, 'POST')).toBe('ok');
    expect(verdict({ host, origin: 'https://app.example.com' }, {}, 'POST')).toBe('ok');
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:4000', 'https://evil.example', 'null', '']) {
      expect([origin, verdict({ host, origin }, {}, 'POST')]).toEqual([origin, 'wrong_origin']);
    }
  });

  it('[H32] a request for a foreign page that has no Origin is refused too, following a link is not', () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(verdict({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe('wrong_origin');
      expect(verdict({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).toBe('ok');
      expect(verdict({ host, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }, {}, 'POST')).toBe('wrong_origin');
    }
    expect(verdict({ host, 'sec-fetch-site': 'same-origin' })).toBe('ok');
    expect(verdict({ host, 'sec-fetch-site': 'none' })).toBe('ok');
  });

  it('[H33] only pages of allowed origins receive CORS headers', () =>
    withHttpServer({ allowedOrigins: ['https://app.example.com'] }, async ({ server, send }) => {
      const foreign = await send({ path: '/healthz', headers: { origin: 'https://evil.example' } });
      expect([foreign.status, foreign.json.error.type]).toEqual([403, 'permission_error']);
      expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
      const own = await send({ path: '/healthz', headers: { origin: server.url } });
      expect([own.status, own.headers['access-control-allow-origin']]).toEqual([200, undefined]);
      const origin = 'https://app.example.com';
      const allowed = await send({ path: '/healthz', headers: { origin } });
      expect([allowed.status, allowed.headers['access-control-allow-origin'], allowed.headers['vary']]).toEqual([
        200,
        origin,
        'origin',
      ]);
      const preflight = await send({
        method: 'OPTIONS',
        path: '/v1/agents',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-api-key' },
      });
      expect(preflight.status).toBe(200);
      expect(preflight.headers['access-control-allow-headers']).toBe('x-api-key');
    }));

  it('[H31] a request for another host is a 403, whatever key it has', () =>
    withHttpServer({}, async ({ send }) => {
      const { status, json } = await send({ path: '/healthz', headers: { host: 'evil.example', 'x-api-key': 'k' } });
      expect([status, json.error.type]).toEqual([403, 'permission_error']);
    }));
});
