import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createManualClock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import { keyLimits } from '../../keys/limits.ts';
import { knownSecrets, withHttpServer } from '../server/http-server.suite.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { anyOf, type Credential, mayReach } from '../../keys/credential.ts';
import { openKeyStore } from '../../keys/key-store.ts';
import { createSessionTokens } from '../../keys/session-tokens.ts';
import { openSigningKey } from '../../keys/signing-key.ts';

const who = defineRoute({
  name: 'who.am_i',
  summary: 'Returns the credential',
  method: 'get',
  path: '/v1/who',
  accepts: ['api', 'environment', 'session'],
  gives: z.looseObject({}),
  handle: async ({ credential }) => ({ ...credential }),
});

const owned = defineRoute({
  ...who,
  name: 'who.owns',
  path: '/v1/environments/{environment_id}/sessions/{session_id}',
  handle: async ({ params }) => params,
});

const forKeys: AnyRoute = { ...who, name: 'who.keys', path: '/v1/keys', accepts: ['api'] };

const api: Credential = { kind: 'api', id: 'key_1', workspaceId: 'wrkspc_1' };
const other: Credential = { kind: 'api', id: 'key_2', workspaceId: 'wrkspc_2' };
const environment: Credential = { kind: 'environment', id: 'key_3', workspaceId: 'wrkspc_1', environmentId: 'env_1' };
const session: Credential = {
  kind: 'session',
  id: 'token',
  workspaceId: 'wrkspc_1',
  environmentId: 'env_1',
  sessionId: 'sesn_1',
};
const access = knownSecrets({ api, other, environment, session });
const routes = [who, owned, forKeys];

describe('authentication', () => {
  it('[H23] a key is taken from `Authorization: Bearer` and from `x-api-key`', () =>
    withHttpServer({ routes, access }, async ({ server, send }) => {
      const client = new Anthropic({ baseURL: server.url, apiKey: 'api' });
      expect(await client.get('/v1/who')).toMatchObject({ id: 'key_1' });
      for (const headers of [{ 'x-api-key': 'api' }, { authorization: 'bearer  api' }, { 'X-Api-Key': ' api ' }]) {
        const { json, headers: answered } = await send({ path: '/v1/who', headers });
        expect([json.id, answered['anthropic-workspace-id']]).toEqual(['key_1', 'wrkspc_1']);
      }
    }));

  it('[H23] if both headers are sent, `Authorization` wins unless `x-api-key` is an environment key', () =>
    withHttpServer({ routes, access }, async ({ send }) => {
      const idOf = async (bearer: string, apiKey: string) => {
        const headers = { authorization: `Bearer ${bearer}`, 'x-api-key': apiKey };
        const { status, json } = await send({ path: '/v1/who', headers });
        return status === 200 ? json.id : status;
      };
      expect(await idOf('other', 'api')).toBe('key_2');
      expect(await idOf('wrong', 'api')).toBe(401);
      expect(await idOf('environment', 'api')).toBe('key_1');
      expect(await idOf('session', 'api')).toBe('token');
    }));

  it('[H24] a missing or wrong key is a 401, which the official client does not retry', () =>
    withHttpServer({ routes, access }, async ({ server, send, requests }) => {
      const client = new Anthropic({ baseURL: server.url, apiKey: 'wrong' });
      await expect(client.get('/v1/who')).rejects.toBeInstanceOf(AuthenticationError);
      expect(requests).toHaveLength(1);
      for (const headers of [{}, { authorization: 'Basic api' }, { authorization: 'api' }, { 'x-api-key': '' }]) {
        const { status, json } = await send({ path: '/v1/who', headers });
        expect([status, json.error.type]).toEqual([401, 'authentication_error']);
      }
      expect((await send({ path: '/v1/who?api_key=api' })).status).toBe(401);
      const { text } = await send({ path: '/v1/who', headers: { 'x-api-key': 'a-secret' } });
      expect(text).not.toContain('a-secret');
    }));

  it('[H24] a key longer than any secret is refused without a look-up', async () => {
    const longest = 'x'.repeat(httpLimits.secretCharsMax);
    const asked: string[] = [];
    const find = async (secret: string) => {
      asked.push(secret);
      return api;
    };
    await withHttpServer({ routes, access: { find } }, async ({ send }) => {
      expect((await send({ path: '/v1/who', headers: { 'x-api-key': longest } })).status).toBe(200);
      expect((await send({ path: '/v1/who', headers: { 'x-api-key': `${longest}x` } })).status).toBe(401);
      expect(asked).toEqual([longest]);
    });
  });

  it('[H25] a server without keys accepts any key or none', () =>
    withHttpServer({ routes }, async ({ send }) => {
      for (const headers of [{}, { 'x-api-key': 'any' }, { authorization: 'Bearer dummy' }]) {
        const { json } = await send({ path: '/v1/who', headers });
        expect(json).toEqual({ kind: 'api', id: 'open', workspaceId: 'wrkspc_default' });
      }
    }));

  it('[H26] a route accepts only the kinds of credential that it names', () =>
    withHttpServer({ routes, access }, async ({ send }) => {
      const statusOf = async (secret: string) =>
        (await send({ path: '/v1/keys', headers: { 'x-api-key': secret } })).json.error?.type ?? 'ok';
      expect(await statusOf('api')).toBe('ok');
      expect(await statusOf('environment')).toBe('permission_error');
      expect(await statusOf('session')).toBe('permission_error');
    }));

  it('[H26] an environment key and a session token find only their own environment and session', () =>
    withHttpServer({ routes, access }, async ({ send }) => {
      const statusOf = async (secret: string, path: string) =>
        (await send({ path: `/v1/environments/${path}`, headers: { authorization: `Bearer ${secret}` } })).status;
      expect(await statusOf('api', 'env_9/sessions/sesn_9')).toBe(200);
      expect(await statusOf('environment', 'env_1/sessions/sesn_9')).toBe(200);
      expect(await statusOf('environment', 'env_2/sessions/sesn_1')).toBe(404);
      expect(await statusOf('session', 'env_1/sessions/sesn_1')).toBe(200);
      expect(await statusOf('session', 'env_1/sessions/sesn_2')).toBe(404);
      expect(await statusOf('session', 'env_2/sessions/sesn_1')).toBe(404);
      expect(mayReach(environment, { sessionId: 'sesn_1', environmentId: 'env_2' })).toBe(false);
    }));
});

describe('keys in files', () => {
  it('[H27] the first key is generated, returned once and stored as a digest that only its owner can read', () =>
    withDirectory(async (directory) => {
      const first = await openKeyStore({ directory });
      expect(first.firstSecret).toMatch(/^fleetloom_api_[\w-]{43}$/);
      const [name, ...more] = await readdir(directory);
      expect(more).toEqual([]);
      const file = join(directory, name!);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
      expect(await readFile(file, 'utf8')).not.toContain(first.firstSecret!.slice('fleetloom_api_'.length));
      const again = await openKeyStore({ directory });
      expect(again.firstSecret).toBeUndefined();
      expect(await again.keys.find(first.firstSecret!)).toEqual({
        kind: 'api',
        id: name!.replace('.json', ''),
        workspaceId: 'wrkspc_default',
        name: 'first key',
      });
      expect(await again.keys.find(`${first.firstSecret!}x`)).toBeUndefined();
    }));

  it('[H27] two keys differ, whatever they are for', () =>
    withDirectory(async (directory) => {
      const { keys, firstSecret } = await openKeyStore({ directory });
      const second = await keys.create({ kind: 'api', name: 'CI', workspaceId: 'wrkspc_2' });
      const third = await keys.create({ kind: 'environment', name: 'worker', environmentId: 'env_1' });
      expect(new Set([firstSecret, second.secret, third.secret]).size).toBe(3);
      expect(third.secret).toMatch(/^fleetloom_environment_/);
      expect(await keys.find(second.secret)).toMatchObject({ kind: 'api', workspaceId: 'wrkspc_2' });
      expect(await keys.find(third.secret)).toMatchObject({ kind: 'environment', environmentId: 'env_1' });
      expect((await keys.list()).map(({ name }) => name).sort()).toEqual(['CI', 'first key', 'worker']);
    }));

  it('[H28] a key that another process adds or revokes takes effect within a second', () =>
    withDirectory(async (directory) => {
      const clock = createManualClock();
      const { keys } = await openKeyStore({ directory, clock });
      const elsewhere = (await openKeyStore({ directory })).keys;
      expect(await keys.find('nothing')).toBeUndefined();
      const { secret, key } = await elsewhere.create({ kind: 'api', name: 'late' });
      clock.advance(keyLimits.apiKeysCheckMs - 1);
      expect(await keys.find(secret)).toBeUndefined();
      clock.advance(1);
      expect(await keys.find(secret)).toMatchObject({ id: key.id });
      expect(await elsewhere.revoke(key.id)).toBe(true);
      clock.advance(keyLimits.apiKeysCheckMs);
      expect(await keys.find(secret)).toBeUndefined();
      expect(await keys.revoke(key.id)).toBe(false);
      expect(await keys.revoke('../../etc/passwd')).toBe(false);
    }));

  it('[H28] requests that arrive at the same time all see a key that was revoked or added', () =>
    withDirectory(async (directory) => {
      const clock = createManualClock();
      const { keys } = await openKeyStore({ directory, clock });
      const elsewhere = (await openKeyStore({ directory })).keys;
      const findTen = (secret: string) => Promise.all(Array.from({ length: 10 }, () => keys.find(secret)));
      const { secret, key } = await elsewhere.create({ kind: 'api', name: 'late' });
      clock.advance(keyLimits.apiKeysCheckMs);
      expect((await findTen(secret)).map((found) => found?.id)).toEqual(Array.from({ length: 10 }, () => key.id));
      await elsewhere.revoke(key.id);
      clock.advance(keyLimits.apiKeysCheckMs);
      expect(await findTen(secret)).toEqual(Array.from({ length: 10 }, () => undefined));
    }));

  it('[H29] files that are not keys are reported and skipped, and too permissive file modes are corrected', () =>
    withDirectory(async (directory) => {
      const { firstSecret } = await openKeyStore({ directory });
      const [name] = await readdir(directory);
      await writeFile(join(directory, 'broken.json'), '{');
      await writeFile(join(directory, 'other.json'), '{"version":1,"kind":"api"}');
      await writeFile(join(directory, 'README.md'), 'hello');
      await writeFile(join(directory, 'open.json'), await readFile(join(directory, name!)), { mode: 0o644 });
      const errors: string[] = [];
      const { keys } = await openKeyStore({ directory, onError: ({ message }) => errors.push(message) });
      expect(await keys.find(firstSecret!)).toBeDefined();
      expect(errors.map((each) => each.slice(directory.length + 1)).sort()).toEqual([
        'broken.json is not a key and is ignored: remove it, or make it readable',
        'other.json is not a key and is ignored: remove it, or make it readable',
      ]);
      expect((await stat(join(directory, 'open.json'))).mode & 0o777).toBe(0o600);
    }));

  it('[H29] there are at most as many keys as the limit', () =>
    withDirectory(async (directory) => {
      const { keys } = await openKeyStore({ directory });
      const [name] = await readdir(directory);
      const text = await readFile(join(directory, name!), 'utf8');
      const copies = Array.from({ length: keyLimits.apiKeysMax - 2 }, (_, index) => index);
      await Promise.all(copies.map((index) => writeFile(join(directory, `copy${index}.json`), text, { mode: 0o600 })));
      await keys.create({ kind: 'api', name: 'last' });
      await expect(keys.create({ kind: 'api', name: 'too many' })).rejects.toMatchObject({ code: 'too_many_keys' });
    }));
});

describe('session tokens', () => {
  const signingKey = Buffer.alloc(32, 7);
  const isIssuerCurrent = async () => true;

  it('[H30] a token is valid for one session and expires', async () => {
    const clock = createManualClock(1_000);
    const tokens = createSessionTokens({ signingKey, clock, isIssuerCurrent });
    const { id: _, kind: __, ...fields } = session;
    const token = tokens.issue({ ...fields, keyId: 'key_3', ttlMs: 500 });
    expect(token).toMatch(/^fleetloom_session_/);
    expect(await tokens.find(token)).toEqual({ kind: 'session', id: 'token of sesn_1', ...fields });
    const restarted = createSessionTokens({ signingKey, clock, isIssuerCurrent });
    expect(await restarted.find(token)).toMatchObject(fields);
    clock.advance(499);
    expect(await tokens.find(token)).toBeDefined();
    clock.advance(1);
    expect(await tokens.find(token)).toBeUndefined();
  });

  it('[H30] a token that was changed, or signed with another key, is refused', async () => {
    const clock = createManualClock();
    const tokens = createSessionTokens({ signingKey, clock, isIssuerCurrent });
    const fields = {
      workspaceId: 'wrkspc_1',
      environmentId: 'env_1',
      sessionId: 'sesn_1',
      keyId: 'key_3',
      ttlMs: 1_000,
    };
    const token = tokens.issue(fields);
    const [payload, signature] = token.slice('fleetloom_session_'.length).split('.');
    const forged = Buffer.from(JSON.stringify(['wrkspc_1', 'env_1', 'sesn_2', 1_000, 'key_3'])).toString('base64url');
    const strange = createSessionTokens({ signingKey: Buffer.alloc(32, 8), clock, isIssuerCurrent }).issue(fields);
    for (const wrong of [
      `fleetloom_session_${forged}.${signature}`,
      `fleetloom_session_${payload}.`,
      `fleetloom_session_${payload}`,
      `${token}.x`,
      `${payload}.${signature}`,
      strange,
      '',
    ]) {
      expect(await tokens.find(wrong)).toBeUndefined();
    }
    const both = anyOf(access, tokens);
    expect([(await both.find('api'))?.kind, (await both.find(token))?.kind]).toEqual(['api', 'session']);
    expect(await both.find('nothing')).toBeUndefined();
  });
});

describe('the signing key', () => {
  it('[H30] is created once, by the first process, and only its owner can read it', () =>
    withDirectory(async (directory) => {
      const file = join(directory, 'signing-key');
      const made = await Promise.all(Array.from({ length: 5 }, () => openSigningKey(file)));
      expect(new Set(made.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
      expect(made[0]).toHaveLength(32);
      expect(await openSigningKey(file)).toEqual(made[0]);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(await readdir(directory)).toEqual(['signing-key']);
      await writeFile(file, 'something else');
      await expect(openSigningKey(file)).rejects.toMatchObject({ code: 'signing_key_broken' });
    }));
});

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'fleetloom-keys-'));
  try {
    await run(join(parent, 'keys'));
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}
