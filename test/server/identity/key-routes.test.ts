import type { FleetSettings } from '@fleetloom/protocol/fleet';
import { expect, it, vi } from 'vitest';
import { createTestKey, send } from './scopes.suite.ts';
import { type TestServer, withServer } from '../server.suite.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Sends a request with a key. */
async function call(test: TestServer, key: string, method: string, path: string, body?: object) {
  const { status, text, error } = await send(test.server, method, path, { 'x-api-key': key }, body);
  return { status, error, body: JSON.parse(text) as { id: string; secret: string; name: string } };
}

const listKeys = async (test: TestServer) => {
  const { text } = await send(test.server, 'GET', '/v1/fleet/settings', { 'x-api-key': test.key });
  return (JSON.parse(text) as FleetSettings).keys;
};

it('[VT77] an admin creates, rotates and revokes keys of the workspace; each secret is shown once and works at once', () =>
  withServer(async (test) => {
    const as = (key: string, method: string, path: string, body?: object) => call(test, key, method, path, body);
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const limits = { scopes: ['run', 'read'], directories: ['/srv/app/'], engines: ['codex'], expires_at: expires };
    const created = await as(test.key, 'POST', '/v1/fleet/keys', { name: 'ci', ...limits });
    expect([created.status, Object.keys(created.body)]).toEqual([200, ['type', 'id', 'name', 'secret']]);
    const { id, secret } = created.body;
    expect((await listKeys(test)).find((key) => key.id === id)).toMatchObject({
      name: 'ci',
      scopes: ['read', 'run'],
      directories: ['/srv/app/'],
      engines: ['codex'],
      expires_at: expires,
    });
    expect((await as(secret, 'GET', '/v1/sessions')).status).toBe(200);
    expect((await as(secret, 'GET', '/v1/fleet/audit')).status).toBe(403);
    const rotated = await as(test.key, 'POST', `/v1/fleet/keys/${id}/rotate`, { overlap_ms: 0 });
    expect((await as(rotated.body.secret, 'GET', '/v1/sessions')).status).toBe(200);
    expect((await as(secret, 'GET', '/v1/sessions')).status).toBe(401);
    expect((await as(test.key, 'DELETE', `/v1/fleet/keys/${id}`)).body).toEqual({ type: 'key_revoked', id });
    expect((await as(rotated.body.secret, 'GET', '/v1/sessions')).status).toBe(401);
    for (const [method, path] of [
      ['DELETE', `/v1/fleet/keys/${id}`],
      ['POST', `/v1/fleet/keys/${id}/rotate`],
      ['DELETE', '/v1/fleet/keys/..%2f..%2fx'],
    ] as const) {
      expect((await as(test.key, method, path, method === 'POST' ? {} : undefined)).status).toBe(404);
    }
    const log = await send(test.server, 'GET', '/v1/fleet/audit', { 'x-api-key': test.key });
    const actions = [...log.text.matchAll(/"action":"(key\.\w+)","by":\{"type":"(\w+)"/g)].map(([, ...all]) => all);
    expect(actions.slice(-3)).toEqual([
      ['key.created', 'key'],
      ['key.rotated', 'key'],
      ['key.revoked', 'key'],
    ]);
    expect(log.text).not.toContain(secret.slice(14));
  }));

it('[VT77] fields that no key can have are a 400, and keys of other workspaces do not exist', () =>
  withServer(async (test) => {
    const statusOf = async (body: object) => (await call(test, test.key, 'POST', '/v1/fleet/keys', body)).status;
    const before = await listKeys(test);
    for (const wrong of [
      {},
      { name: '' },
      { name: ' ' },
      { name: 'x', scopes: [] },
      { name: 'x', scopes: ['root'] },
      { name: 'x', directories: ['srv'] },
      { name: 'x', engines: ['gpt'] },
      { name: 'x', expires_at: '2020-01-01T00:00:00Z' },
      { name: 'x', workspace_id: 'wrkspc_other' },
    ]) {
      expect([wrong, await statusOf(wrong)]).toEqual([wrong, 400]);
    }
    expect(await listKeys(test)).toHaveLength(before.length);
    const other = await createTestKey(test, { workspaceId: 'wrkspc_other' });
    expect((await call(test, test.key, 'DELETE', `/v1/fleet/keys/${other.id}`)).status).toBe(404);
    expect((await call(test, test.key, 'POST', `/v1/fleet/keys/${other.id}/rotate`, {})).status).toBe(404);
  }));

it('[VT78] a new secret never opens more than its creator may do: scopes, limits and expiry', () =>
  withServer(async (test) => {
    const full = (await listKeys(test))[0]!.id;
    const create = async (key: string, body: object) =>
      (await call(test, key, 'POST', '/v1/fleet/keys', { name: 'x', ...body })).status;
    const rotate = async (key: string) => (await call(test, key, 'POST', `/v1/fleet/keys/${full}/rotate`, {})).status;

    const admin = await createTestKey(test, { scopes: ['admin'] });
    expect([await create(admin.secret, {}), await create(admin.secret, { scopes: ['admin', 'read'] })]).toEqual([
      403, 403,
    ]);
    expect([await create(admin.secret, { scopes: ['admin'] }), await rotate(admin.secret)]).toEqual([200, 403]);
    // Taking something away is what an admin is for.
    const reader = await createTestKey(test, { scopes: ['read'] });
    expect((await call(test, admin.secret, 'DELETE', `/v1/fleet/keys/${reader.id}`)).status).toBe(200);

    const limited = await createTestKey(test, { engines: ['codex'] });
    expect([await create(limited.secret, { engines: ['codex'] }), await rotate(limited.secret)]).toEqual([403, 403]);

    const end = Date.now() + 3_600_000;
    const short = await createTestKey(test, { expiresAt: end });
    const at = (time: number) => ({ expires_at: new Date(time).toISOString() });
    expect([await create(short.secret, {}), await create(short.secret, at(end + 1))]).toEqual([400, 400]);
    expect([await create(short.secret, at(end)), await rotate(short.secret)]).toEqual([200, 400]);

    const operator = await createTestKey(test, { scopes: ['read', 'run', 'approve', 'manage'] });
    expect([await create(operator.secret, { scopes: ['read'] }), await rotate(operator.secret)]).toEqual([403, 403]);
  }));
