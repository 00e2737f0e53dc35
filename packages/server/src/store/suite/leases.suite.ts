import { expect, it } from 'vitest';
import { commitOne } from '../write.ts';
import { append, type CreateStore, codeOf, create, enqueue, owned, readAll, show, withStore } from './samples.suite.ts';

export function leasesSuite(createStore: CreateStore): void {
  it('[T8] a session has one owner at a time, and only when its lease has run out another one takes it', () =>
    withStore(createStore, async ({ store, clock }) => {
      await commitOne(store, create('sesn_1'));
      const acquire = (owner: string) => store.leases.acquire({ sessionId: 'sesn_1', owner, ttlMs: 1_000 });
      const expiresAt = clock.now() + 1_000;
      expect(await acquire('a')).toEqual({ ok: true, fence: 1, head: 0, expiresAt });
      clock.advance(999);
      expect(await acquire('b')).toEqual({ ok: false, owner: 'a', expiresAt });
      clock.advance(1);
      expect(await acquire('b')).toMatchObject({ ok: true, fence: 2 });
      expect(await acquire('a')).toMatchObject({ ok: false, owner: 'b' });
      expect(await codeOf(store.leases.acquire({ sessionId: 'sesn_9', owner: 'a', ttlMs: 1 }))).toBe('not_found');
    }));

  it('[T8] two who want a session at the same moment: one gets it', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1'));
      const owners = ['a', 'b', 'c', 'd'];
      const acquired = await Promise.all(
        owners.map((owner) => store.leases.acquire({ sessionId: 'sesn_1', owner, ttlMs: 1_000 })),
      );
      expect(acquired.filter(({ ok }) => ok)).toHaveLength(1);
    }));

  it('[T7] an append with a fence that is not the newest is refused and writes nothing', () =>
    withStore(createStore, async ({ store, clock }) => {
      const fence = await owned(store, 'sesn_1', 'a');
      await commitOne(store, append('sesn_1', fence, ['from a']));
      clock.advance(10_000);
      // Late, but no other owner has taken over: still the only writer.
      await commitOne(store, append('sesn_1', fence, ['late']));
      const taken = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'b', ttlMs: 1_000 });
      expect(taken).toMatchObject({ ok: true, fence: fence + 1, head: 2 });
      expect(await codeOf(commitOne(store, append('sesn_1', fence, ['ghost'], [enqueue('sevt_1')])))).toBe(
        'stale_owner',
      );
      for (const wrong of [0, fence + 2, Number.NaN]) {
        expect(await codeOf(commitOne(store, append('sesn_1', wrong, ['ghost'])))).toBe('stale_owner');
      }
      await commitOne(store, append('sesn_1', fence + 1, ['from b']));
      expect(show(await readAll(store, 'sesn_1'))).toEqual(['1 from a', '2 late', '3 from b']);
      expect(await store.inputs.peek('sesn_1', 9)).toEqual([]);
    }));

  it('[T7] the owner itself gets a new fence when it acquires again, and the old one is worth nothing', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1', 'a');
      const again = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'a', ttlMs: 1_000 });
      expect(again).toMatchObject({ ok: true, fence: fence + 1 });
      expect(await codeOf(commitOne(store, append('sesn_1', fence, ['x'])))).toBe('stale_owner');
    }));

  it('[T8] leases are renewed in one call, which returns those that were lost', () =>
    withStore(createStore, async ({ store, clock }) => {
      const leases = [];
      for (const sessionId of ['sesn_1', 'sesn_2', 'sesn_3']) {
        leases.push({ sessionId, fence: await owned(store, sessionId, 'a') });
      }
      clock.advance(9_999);
      expect(await store.leases.renew({ owner: 'a', ttlMs: 1_000, leases: leases.slice(0, 2) })).toEqual([]);
      clock.advance(1);
      expect(await store.leases.acquire({ sessionId: 'sesn_3', owner: 'b', ttlMs: 99 })).toMatchObject({ ok: true });
      expect(await store.leases.acquire({ sessionId: 'sesn_1', owner: 'b', ttlMs: 99 })).toMatchObject({ ok: false });
      await commitOne(store, { type: 'delete', ...leases[1]! });
      expect(await store.leases.renew({ owner: 'a', ttlMs: 1_000, leases })).toEqual(['sesn_2', 'sesn_3']);
    }));

  it('[T8] a released session is free at once, its fence is dead, and releasing twice does nothing', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1', 'a');
      await store.leases.release({ sessionId: 'sesn_1', fence });
      expect(await codeOf(commitOne(store, append('sesn_1', fence, ['x'])))).toBe('stale_owner');
      const next = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'b', ttlMs: 1_000 });
      expect(next.ok && next.fence > fence).toBe(true);
      await store.leases.release({ sessionId: 'sesn_1', fence });
      await store.leases.release({ sessionId: 'sesn_9', fence });
      expect(await store.leases.acquire({ sessionId: 'sesn_1', owner: 'c', ttlMs: 9 })).toMatchObject({ owner: 'b' });
    }));

  it('[W85] the owner of a session is visible to all, until the lease is released or has expired', () =>
    withStore(createStore, async ({ store, clock }) => {
      await commitOne(store, create('sesn_1'));
      const owner = () => store.leases.findOwner('sesn_1');
      expect(await owner()).toBeUndefined();
      const taken = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'a', ttlMs: 1_000 });
      clock.advance(999);
      expect(await owner()).toBe('a');
      clock.advance(1);
      expect(await owner()).toBeUndefined();
      const again = await store.leases.acquire({ sessionId: 'sesn_1', owner: 'b', ttlMs: 1_000 });
      expect([await owner(), taken.ok, again.ok]).toEqual(['b', true, true]);
      if (again.ok) await store.leases.release({ sessionId: 'sesn_1', fence: again.fence });
      expect(await owner()).toBeUndefined();
      expect(await store.leases.findOwner('sesn_9')).toBeUndefined();
    }));

  it('[T9] sessions with something to do and without an owner are found', () =>
    withStore(createStore, async ({ store, clock }) => {
      await commitOne(store, create('sesn_idle'));
      await commitOne(store, create('sesn_running', { status: 'running' }));
      await commitOne(store, create('sesn_rescheduling', { status: 'rescheduling' }));
      await commitOne(store, create('sesn_input'));
      await commitOne(store, { type: 'submit', sessionId: 'sesn_input', changes: [enqueue('sevt_1')] });
      const orphans = async () => (await store.leases.findOrphans(9)).map((id) => id.slice(5)).sort();
      expect(await orphans()).toEqual(['input', 'rescheduling', 'running']);
      expect(await store.leases.findOrphans(2)).toHaveLength(2);
      await store.leases.acquire({ sessionId: 'sesn_running', owner: 'a', ttlMs: 1_000 });
      expect(await orphans()).toEqual(['input', 'rescheduling']);
      clock.advance(1_000);
      expect(await orphans()).toEqual(['input', 'rescheduling', 'running']);
    }));

  it('[P117] of the sessions of an owner, those with input are found with one query', () =>
    withStore(createStore, async ({ store }) => {
      for (const id of ['sesn_1', 'sesn_2', 'sesn_3', 'sesn_4']) await commitOne(store, create(id));
      for (const sessionId of ['sesn_1', 'sesn_2']) {
        await store.leases.acquire({ sessionId, owner: 'a', ttlMs: 1_000 });
      }
      await store.leases.acquire({ sessionId: 'sesn_3', owner: 'b', ttlMs: 1_000 });
      expect(await store.leases.findWithInputs('a')).toEqual([]);
      for (const sessionId of ['sesn_2', 'sesn_3', 'sesn_4']) {
        await commitOne(store, { type: 'submit', sessionId, changes: [enqueue('sevt_1'), enqueue('sevt_2')] });
      }
      expect(await store.leases.findWithInputs('a')).toEqual(['sesn_2']);
      expect(await store.leases.findWithInputs('b')).toEqual(['sesn_3']);
      expect(await store.leases.findWithInputs('c')).toEqual([]);
    }));
}
