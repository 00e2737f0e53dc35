import { expect, it } from 'vitest';
import type { Signal, Store } from '../store.ts';
import { type Change, commitOne } from '../write.ts';
import { append, type CreateStore, codeOf, create, owned, start, withStore } from './samples.suite.ts';

const queue = { workspaceId: 'w1', environmentId: 'env_1' };

function work(id: string, createdAt = start): Extract<Change, { type: 'enqueue_work' }> {
  return { type: 'enqueue_work', work: { id, createdAt, data: { of: id } } };
}

export function worksSuite(createStore: CreateStore): void {
  it('[W1] an item is queued with its session or with input, and only while the session has none', () =>
    withStore(createStore, async ({ store }) => {
      const signals: Signal[] = [];
      store.subscribe((some) => signals.push(...some));
      await commitOne(store, { ...(create('sesn_1') as object), changes: [work('work_1')] } as never);
      const submit = (id: string) =>
        commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [work(id, start + 1)] });
      await submit('work_2');
      expect(await idsOf(store)).toEqual(['work_1']);
      expect(await store.works.get('w1', 'work_1')).toEqual({
        ...queue,
        id: 'work_1',
        sessionId: 'sesn_1',
        state: 'queued',
        revision: 1,
        createdAt: start,
        claimedAt: null,
        leasedUntil: null,
        data: { of: 'work_1' },
      });
      expect(signals.filter(({ type }) => type === 'works')).toEqual([
        { type: 'works', sessionId: 'sesn_1' },
        { type: 'works', sessionId: 'sesn_1' },
      ]);
      for (const state of ['starting', 'active'] as const) {
        await change(store, 'work_1', { state, leaseMs: 10 });
        await submit('work_2');
        expect(await idsOf(store)).toEqual(['work_1']);
      }
      await change(store, 'work_1', { state: 'stopping' });
      await submit('work_2');
      await change(store, 'work_2', { state: 'stopped' });
      await submit('work_3');
      expect(await idsOf(store)).toEqual(['work_3', 'work_2', 'work_1']);
      expect(await store.works.get('w2', 'work_1')).toBeUndefined();
    }));

  it('[W2] of concurrent polls one gets the item, the oldest first', () =>
    withStore(createStore, async ({ store }) => {
      for (const id of ['3', '1', '2']) await put(store, `sesn_${id}`, work(`work_${id}`, start + Number(id)));
      expect(await claim(store)).toBe('work_1');
      const claims = await Promise.all(Array.from({ length: 4 }, () => claim(store)));
      expect(claims.map(String).toSorted()).toEqual(['undefined', 'undefined', 'work_2', 'work_3']);
      expect(await store.works.claim({ ...queue, environmentId: 'env_2', reclaimMs: 0 })).toBeUndefined();
      expect(await store.works.claim({ ...queue, workspaceId: 'w2', reclaimMs: 0 })).toBeUndefined();
    }));

  it('[W2] an item waits again when no worker confirmed it in time, or when the lease of its worker has run out', () =>
    withStore(createStore, async ({ store, clock }) => {
      await put(store, 'sesn_1', work('work_1'));
      expect(await claim(store)).toBe('work_1');
      expect(await store.works.count(queue)).toEqual({ waiting: 0, claimed: 1, oldestAt: start });
      clock.advance(4_999);
      expect(await claim(store)).toBeUndefined();
      clock.advance(1);
      expect(await claim(store)).toBe('work_1');
      await change(store, 'work_1', { state: 'active', leaseMs: 1_000 });
      expect(await store.works.count(queue)).toEqual({ waiting: 0, claimed: 0, oldestAt: null });
      clock.advance(999);
      expect(await claim(store, 0)).toBeUndefined();
      clock.advance(1);
      expect(await store.works.count(queue)).toEqual({ waiting: 1, claimed: 0, oldestAt: start });
      expect(await claim(store, 0)).toBe('work_1');
      expect(await store.works.get('w1', 'work_1')).toMatchObject({
        state: 'queued',
        leasedUntil: null,
        claimedAt: clock.now(),
      });
    }));

  it('[W2] an item is held back while another one of its session has a worker, and when the session has ended', () =>
    withStore(createStore, async ({ store, clock }) => {
      const fence = await put(store, 'sesn_1', work('work_1'));
      await claim(store);
      await change(store, 'work_1', { state: 'stopping', leaseMs: 1_000 });
      await commitOne(store, { type: 'submit', sessionId: 'sesn_1', changes: [work('work_2')] });
      expect(await claim(store)).toBeUndefined();
      clock.advance(1_000);
      expect(await claim(store)).toBe('work_2');
      const end = { type: 'update_session', updatedAt: start, patch: { status: 'terminated' } } as const;
      await commitOne(store, append('sesn_1', fence, [], [end]));
      expect(await claim(store, 0)).toBeUndefined();
      expect(await store.works.count(queue)).toEqual({ waiting: 0, claimed: 0, oldestAt: null });
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect(await idsOf(store)).toEqual([]);
    }));

  it('[W3] a change of an item names its revision, and of two concurrent ones only one is applied', () =>
    withStore(createStore, async ({ store }) => {
      await put(store, 'sesn_1', work('work_1'));
      const update = (by: string) =>
        codeOf(store.works.update({ workspaceId: 'w1', id: 'work_1', ifRevision: 1, data: { by } }));
      expect((await Promise.all([update('x'), update('y')])).sort()).toEqual(['ok', 'version_conflict']);
      expect(await store.works.get('w1', 'work_1')).toMatchObject({ revision: 2, state: 'queued' });
      const none = store.works.update({ workspaceId: 'w2', id: 'work_1', ifRevision: 2 });
      expect(await codeOf(none)).toBe('not_found');
    }));

  it('[W3] items are listed by their environment, in pages that lead on', () =>
    withStore(createStore, async ({ store }) => {
      for (const id of ['1', '2', '3']) await put(store, `sesn_${id}`, work(`work_${id}`, start + Number(id)));
      const first = await store.works.list({ ...queue, limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(['work_3', 'work_2']);
      const second = await store.works.list({ ...queue, limit: 2, cursor: first.next! });
      expect([second.items.map(({ id }) => id), second.next]).toEqual([['work_1'], null]);
      const other = store.works.list({ ...queue, environmentId: 'env_2', limit: 2, cursor: first.next! });
      expect(await codeOf(other)).toBe('invalid_cursor');
    }));
}

async function put(store: Store, sessionId: string, change: Change): Promise<number> {
  const fence = await owned(store, sessionId);
  await commitOne(store, append(sessionId, fence, [], [change]));
  return fence;
}

async function claim(store: Store, reclaimMs = 5_000): Promise<string | undefined> {
  return (await store.works.claim({ ...queue, reclaimMs }))?.id;
}

async function change(store: Store, id: string, patch: object): Promise<void> {
  const { revision } = (await store.works.get('w1', id))!;
  await store.works.update({ workspaceId: 'w1', id, ifRevision: revision, ...patch });
}

async function idsOf(store: Store): Promise<string[]> {
  return (await store.works.list({ ...queue, limit: 9 })).items.map(({ id }) => id);
}
