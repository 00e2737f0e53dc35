import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import type { Store } from '../../store/store.ts';
import { knownSecrets, type TestRequest, withHttpServer } from '../server/http-server.suite.ts';
import { requestError } from '../../base/request-error.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';

/** Counts how often a request was applied; `gate` delays the answer. */
function counting(over: { gate?: Promise<void>; fail?: () => boolean; ownKeys?: Store } = {}) {
  let count = 0;
  const route = defineRoute({
    name: 'things.create',
    summary: 'Counts',
    method: 'post',
    path: '/v1/things',
    accepts: ['api'],
    body: z.looseObject({}),
    gives: z.looseObject({}),
    handle: async ({ memory, credential: { workspaceId } }) => {
      count++;
      const answer = { type: 'thing', count };
      if (over.ownKeys !== undefined) await over.ownKeys.keys.putIfAbsent({ workspaceId, ...memory.toKey(answer) });
      await over.gate;
      if (over.fail?.() === true) throw requestError('invalid_request', 'not now');
      return answer;
    },
  });
  return { route, count: () => count };
}

const post = (headers: Record<string, string> = {}, body: object = { name: 'a' }): TestRequest => ({
  method: 'POST',
  path: '/v1/things',
  headers,
  body,
});

describe('repeated requests', () => {
  it('[H34] the same body with a retry count, within a minute, gets the first answer', async () => {
    const { route, count } = counting();
    await withHttpServer({ routes: [route] }, async ({ send, clock }) => {
      const first = await send(post({ 'x-stainless-retry-count': '0' }));
      clock.advance(httpLimits.retryGuardMs - 1);
      const again = await send(post({ 'x-stainless-retry-count': '1' }));
      expect([again.status, again.json, count()]).toEqual([200, first.json, 1]);
      expect(again.headers['idempotency-replayed']).toBe('true');
      clock.advance(1);
      expect((await send(post({ 'x-stainless-retry-count': '2' }))).json.count).toBe(2);
    });
  });

  it('[H34] a request with a retry count of 0 is applied, and so is one with another body or path', async () => {
    const { route, count } = counting();
    const elsewhere: AnyRoute = { ...route, name: 'things.other', path: '/v1/others' };
    await withHttpServer({ routes: [route, elsewhere] }, async ({ send }) => {
      await send(post());
      await send(post());
      await send(post({ 'x-stainless-retry-count': '0' }));
      expect(count()).toBe(3);
      const retry = { 'x-stainless-retry-count': '1' };
      await send(post(retry, { name: 'b' }));
      await send({ ...post(retry), path: '/v1/others' });
      expect(count()).toBe(5);
      await send({ ...post(retry), path: '/v1/others?beta=true' });
      expect(count()).toBe(5);
    });
  });

  it('[H34] a retry by the official client after a lost answer is not applied twice', async () => {
    const { route, count } = counting();
    await withHttpServer({ routes: [route] }, async ({ server, requests }) => {
      let isLost = true;
      const lossy: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (!isLost) return response;
        isLost = false;
        await response.text();
        throw new TypeError('fetch failed');
      };
      const client = new Anthropic({ baseURL: server.url, apiKey: 'any', fetch: lossy });
      expect(await client.post('/v1/things', { body: { name: 'a' } })).toMatchObject({ count: 1 });
      expect([count(), requests.length]).toEqual([1, 2]);
    });
  });

  it('[H35] an Idempotency-Key gives the first answer for a day, and refuses another request', async () => {
    const { route, count } = counting();
    await withHttpServer({ routes: [route] }, async ({ send, clock }) => {
      const headers = { 'idempotency-key': 'k1' };
      const first = await send(post(headers));
      clock.advance(httpLimits.idempotencyMs - 1);
      expect((await send(post(headers))).json).toEqual(first.json);
      const reused = await send(post(headers, { name: 'b' }));
      expect([reused.status, reused.json.error.details.error_code]).toEqual([400, 'idempotency_key_reused']);
      expect((await send(post({ 'idempotency-key': 'k2' }))).json.count).toBe(2);
      clock.advance(1);
      expect((await send(post(headers))).json.count).toBe(3);
      expect(count()).toBe(3);
    });
  });

  it('[H35] an Idempotency-Key has 1 to 255 characters', async () => {
    const { route } = counting();
    await withHttpServer({ routes: [route] }, async ({ send }) => {
      const statusOf = async (key: string) => (await send(post({ 'idempotency-key': key }))).status;
      expect(await statusOf('x'.repeat(httpLimits.idempotencyKeyCharsMax))).toBe(200);
      expect(await statusOf('x'.repeat(httpLimits.idempotencyKeyCharsMax + 1))).toBe(400);
      expect(await statusOf('')).toBe(400);
    });
  });

  it('[H36] an Idempotency-Key is separate for each credential', async () => {
    const { route } = counting();
    const access = knownSecrets({
      a: { kind: 'api', id: 'key_a', workspaceId: 'wrkspc_1' },
      b: { kind: 'api', id: 'key_b', workspaceId: 'wrkspc_1' },
    });
    await withHttpServer({ routes: [route], access }, async ({ send }) => {
      const by = (key: string, more: Record<string, string>) => send(post({ 'x-api-key': key, ...more }));
      expect((await by('a', { 'idempotency-key': 'k' })).json.count).toBe(1);
      expect((await by('b', { 'idempotency-key': 'k' })).json.count).toBe(2);
      expect((await by('a', {})).json.count).toBe(3);
      expect((await by('b', { 'x-stainless-retry-count': '1' })).json.count).toBe(4);
    });
  });

  it('[H36] a repetition that arrives while the first request is under way waits for its answer', async () => {
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { route, count } = counting({ gate });
    await withHttpServer({ routes: [route] }, async ({ send }) => {
      const first = send(post());
      while (count() === 0) await new Promise((resolve) => setImmediate(resolve));
      const others = ['1', '2'].map((retries) => send(post({ 'x-stainless-retry-count': retries })));
      const reused = send(post({ 'idempotency-key': 'k' }));
      const wrong = send(post({ 'idempotency-key': 'k' }, { name: 'b' }));
      await send({ path: '/healthz' });
      open();
      expect((await Promise.all([first, ...others])).map(({ json }) => json.count)).toEqual([1, 1, 1]);
      expect(new Set([(await reused).status, (await wrong).status])).toEqual(new Set([200, 400]));
      expect(count()).toBe(2);
    });
  });

  it('[H36] an error is not stored', async () => {
    let isFailing = true;
    const { route, count } = counting({ fail: () => isFailing });
    await withHttpServer({ routes: [route] }, async ({ send }) => {
      expect((await send(post({ 'idempotency-key': 'k' }))).status).toBe(400);
      isFailing = false;
      expect((await send(post({ 'idempotency-key': 'k' }))).json.count).toBe(2);
      expect((await send(post({ 'idempotency-key': 'k' }))).json.count).toBe(2);
      expect(count()).toBe(2);
    });
  });

  it('[H37] a handler can store its answer in its own transaction, even if it fails afterwards', async () => {
    let store!: Store;
    await withHttpServer(
      (made) => {
        store = made;
        return { routes: [counting({ ownKeys: store, fail: () => true }).route] };
      },
      async ({ send }) => {
        expect((await send(post({ 'idempotency-key': 'k' }))).status).toBe(400);
        expect((await send(post({ 'idempotency-key': 'k' }))).json).toEqual({ type: 'thing', count: 1 });
      },
    );
  });

  it('[H37] an answer that cannot be stored is sent anyway, and the error is reported', async () => {
    const { route } = counting();
    const keys: Store['keys'] = {
      get: async () => undefined,
      putIfAbsent: async () => {
        throw new Error('disk full');
      },
    };
    await withHttpServer({ routes: [route], keys }, async ({ send, errors }) => {
      expect((await send(post())).status).toBe(200);
      expect(errors.map(String)).toEqual(['Error: disk full']);
    });
  });

  it('[H112] a stored answer can be read only with the credential and the request that it was sent for', async () => {
    const { route, count } = counting();
    const sameKey = { kind: 'api', id: 'key_a', workspaceId: 'wrkspc_1' } as const;
    const access = knownSecrets({ first: sameKey, second: sameKey });
    const kept: object[] = [];
    const watched = (keys: Store['keys']): Store['keys'] => ({
      ...keys,
      putIfAbsent: async (record) => {
        kept.push(record);
        return await keys.putIfAbsent(record);
      },
    });
    await withHttpServer(
      (store) => ({ routes: [route], access, keys: watched(store.keys) }),
      async ({ send }) => {
        const by = (key: string, more: Record<string, string>) => send(post({ 'x-api-key': key, ...more }));
        const answer = await by('first', { 'idempotency-key': 'k' });
        expect(JSON.stringify(kept)).not.toContain('thing');
        expect((await by('first', { 'idempotency-key': 'k' })).json).toEqual(answer.json);
        const other = await by('second', { 'idempotency-key': 'k' });
        expect([other.status, other.json.error.details.error_code]).toEqual([409, 'answer_sealed']);
        expect(count()).toBe(1);
        // Without an Idempotency-Key two equal requests may both be intended.
        await by('first', {});
        expect((await by('second', { 'x-stainless-retry-count': '1' })).json.count).toBe(3);
      },
    );
  });

  it('[ID40] a request under way gives its answer to no repetition with another secret of the same key', async () => {
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { route, count } = counting({ gate });
    const sameKey = { kind: 'api', id: 'key_a', workspaceId: 'wrkspc_1' } as const;
    const access = knownSecrets({ admin: sameKey, viewer: { ...sameKey, scopes: ['read'] } });
    await withHttpServer({ routes: [{ ...route, name: 'login_links.create' }], access }, async ({ send }) => {
      const by = (key: string, more: Record<string, string>) => send(post({ 'x-api-key': key, ...more }));
      const first = [by('admin', {}), by('admin', { 'idempotency-key': 'k' })];
      while (count() < 2) await new Promise((resolve) => setImmediate(resolve));
      const guessed = by('viewer', { 'x-stainless-retry-count': '1' });
      const named = by('viewer', { 'idempotency-key': 'k' });
      await send({ path: '/healthz' });
      open();
      const counts = (await Promise.all(first)).map(({ json }) => json.count as number);
      expect(new Set(counts)).toEqual(new Set([1, 2]));
      expect((await guessed).json.count).toBe(3);
      const refused = await named;
      expect([refused.status, refused.json.error.details.error_code]).toEqual([409, 'answer_sealed']);
    });
  });

  it('[H119] a request over 1 MiB is applied once, and its repetition gets an error that names the reason', async () => {
    const { route, count } = counting();
    expect(httpLimits.replayBytesMax).toBe(1_048_576);
    const sized = (bytes: number) => ({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
    await withHttpServer({ routes: [route] }, async ({ send }) => {
      const fitting = sized(httpLimits.replayBytesMax);
      await send(post({ 'idempotency-key': 'a' }, fitting));
      expect((await send(post({ 'idempotency-key': 'a' }, fitting))).status).toBe(200);
      const large = sized(httpLimits.replayBytesMax + 1);
      expect((await send(post({ 'idempotency-key': 'b' }, large))).status).toBe(200);
      const again = await send(post({ 'idempotency-key': 'b' }, large));
      expect([again.status, again.json.error.details.error_code]).toEqual([409, 'answer_too_large']);
      await send(post({}, large));
      expect((await send(post({ 'x-stainless-retry-count': '1' }, large))).status).toBe(409);
      expect(count()).toBe(3);
    });
  });

  it('[H143] an answer over 1.25 MiB is not stored, and a repetition of its request gets an error that names the reason', async () => {
    const answers = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
    const sizes = [httpLimits.replayAnswerBytesMax, httpLimits.replayAnswerBytesMax + 1];
    const { route } = counting();
    const handle = () => Promise.resolve(answers(sizes.shift()!));
    await withHttpServer({ routes: [{ ...route, handle }] }, async ({ send }) => {
      expect((await send(post({ 'idempotency-key': 'a' }))).status).toBe(200);
      expect((await send(post({ 'idempotency-key': 'a' }))).status).toBe(200);
      expect((await send(post({ 'idempotency-key': 'b' }))).status).toBe(200);
      const again = await send(post({ 'idempotency-key': 'b' }));
      expect([again.status, again.json.error.details.error_code]).toEqual([409, 'answer_too_large']);
      expect([sizes, httpLimits.replayAnswerBytesMax]).toEqual([[], 1_310_720]);
    });
  });
});
