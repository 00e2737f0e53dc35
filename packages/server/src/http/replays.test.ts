import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import type { Store } from '../store/store.ts';
import { knownSecrets, type TestRequest, withDoor } from './door.suite.ts';
import { doorError } from './door-error.ts';
import { type AnyRoute, defineRoute } from './route.ts';

/** Counts how often it was carried out; `gate` holds an answer back. */
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
      if (over.fail?.() === true) throw doorError('invalid_request', 'not now');
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
    await withDoor({ routes: [route] }, async ({ send, clock }) => {
      const first = await send(post({ 'x-stainless-retry-count': '0' }));
      clock.advance(limits.retryGuardMs - 1);
      const again = await send(post({ 'x-stainless-retry-count': '1' }));
      expect([again.status, again.json, count()]).toEqual([200, first.json, 1]);
      expect(again.headers['idempotency-replayed']).toBe('true');
      clock.advance(1);
      expect((await send(post({ 'x-stainless-retry-count': '2' }))).json.count).toBe(2);
    });
  });

  it('[H34] a request that says that it is no repetition is carried out, and so is one with another body or path', async () => {
    const { route, count } = counting();
    const elsewhere: AnyRoute = { ...route, name: 'things.other', path: '/v1/others' };
    await withDoor({ routes: [route, elsewhere] }, async ({ send }) => {
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

  it('[H34] the official client, whose answer got lost, does not do it twice', async () => {
    const { route, count } = counting();
    await withDoor({ routes: [route] }, async ({ door, requests }) => {
      let isLost = true;
      const lossy: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (!isLost) return response;
        isLost = false;
        await response.text();
        throw new TypeError('fetch failed');
      };
      const client = new Anthropic({ baseURL: door.url, apiKey: 'any', fetch: lossy });
      expect(await client.post('/v1/things', { body: { name: 'a' } })).toMatchObject({ count: 1 });
      expect([count(), requests.length]).toEqual([1, 2]);
    });
  });

  it('[H35] an Idempotency-Key gives the first answer for a day, and refuses another request', async () => {
    const { route, count } = counting();
    await withDoor({ routes: [route] }, async ({ send, clock }) => {
      const headers = { 'idempotency-key': 'k1' };
      const first = await send(post(headers));
      clock.advance(limits.idempotencyMs - 1);
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
    await withDoor({ routes: [route] }, async ({ send }) => {
      const statusOf = async (key: string) => (await send(post({ 'idempotency-key': key }))).status;
      expect(await statusOf('x'.repeat(limits.idempotencyKeyCharsMax))).toBe(200);
      expect(await statusOf('x'.repeat(limits.idempotencyKeyCharsMax + 1))).toBe(400);
      expect(await statusOf('')).toBe(400);
    });
  });

  it('[H36] keys of one credential mean nothing for another', async () => {
    const { route } = counting();
    const access = knownSecrets({
      a: { kind: 'api', id: 'key_a', workspaceId: 'wrkspc_1' },
      b: { kind: 'api', id: 'key_b', workspaceId: 'wrkspc_1' },
    });
    await withDoor({ routes: [route], access }, async ({ send }) => {
      const by = (key: string, more: Record<string, string>) => send(post({ 'x-api-key': key, ...more }));
      expect((await by('a', { 'idempotency-key': 'k' })).json.count).toBe(1);
      expect((await by('b', { 'idempotency-key': 'k' })).json.count).toBe(2);
      expect((await by('a', {})).json.count).toBe(3);
      expect((await by('b', { 'x-stainless-retry-count': '1' })).json.count).toBe(4);
    });
  });

  it('[H36] a repetition that comes while the first is under way waits for its answer', async () => {
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { route, count } = counting({ gate });
    await withDoor({ routes: [route] }, async ({ send }) => {
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

  it('[H36] what failed is not kept', async () => {
    let isFailing = true;
    const { route, count } = counting({ fail: () => isFailing });
    await withDoor({ routes: [route] }, async ({ send }) => {
      expect((await send(post({ 'idempotency-key': 'k' }))).status).toBe(400);
      isFailing = false;
      expect((await send(post({ 'idempotency-key': 'k' }))).json.count).toBe(2);
      expect((await send(post({ 'idempotency-key': 'k' }))).json.count).toBe(2);
      expect(count()).toBe(2);
    });
  });

  it('[H37] a handler can keep its answer itself, with what it writes, even if it then fails', async () => {
    let store!: Store;
    await withDoor(
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

  it('[H37] an answer that cannot be kept is given all the same, and reported', async () => {
    const { route } = counting();
    const keys: Store['keys'] = {
      get: async () => undefined,
      putIfAbsent: async () => {
        throw new Error('disk full');
      },
    };
    await withDoor({ routes: [route], keys }, async ({ send, mishaps }) => {
      expect((await send(post())).status).toBe(200);
      expect(mishaps.map(String)).toEqual(['Error: disk full']);
    });
  });

  it('[H112] what is kept of an answer can be read only with the credential and the request that it was given for', async () => {
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
    await withDoor(
      (store) => ({ routes: [route], access, keys: watched(store.keys) }),
      async ({ send }) => {
        const by = (key: string, more: Record<string, string>) => send(post({ 'x-api-key': key, ...more }));
        const answer = await by('first', { 'idempotency-key': 'k' });
        expect(JSON.stringify(kept)).not.toContain('thing');
        expect((await by('first', { 'idempotency-key': 'k' })).json).toEqual(answer.json);
        const other = await by('second', { 'idempotency-key': 'k' });
        expect([other.status, other.json.error.details.error_code]).toEqual([409, 'answer_sealed']);
        expect(count()).toBe(1);
        // Without a key of the client's own the same may be meant twice.
        await by('first', {});
        expect((await by('second', { 'x-stainless-retry-count': '1' })).json.count).toBe(3);
      },
    );
  });

  it('[H119] a request over 1 MiB is carried out once, and its repetition is told so', async () => {
    const { route, count } = counting();
    expect(limits.replayBytesMax).toBe(1_048_576);
    const sized = (bytes: number) => ({ name: 'x'.repeat(bytes - '{"name":""}'.length) });
    await withDoor({ routes: [route] }, async ({ send }) => {
      const fitting = sized(limits.replayBytesMax);
      await send(post({ 'idempotency-key': 'a' }, fitting));
      expect((await send(post({ 'idempotency-key': 'a' }, fitting))).status).toBe(200);
      const large = sized(limits.replayBytesMax + 1);
      expect((await send(post({ 'idempotency-key': 'b' }, large))).status).toBe(200);
      const again = await send(post({ 'idempotency-key': 'b' }, large));
      expect([again.status, again.json.error.details.error_code]).toEqual([409, 'answer_too_large']);
      await send(post({}, large));
      expect((await send(post({ 'x-stainless-retry-count': '1' }, large))).status).toBe(409);
      expect(count()).toBe(3);
    });
  });
});
