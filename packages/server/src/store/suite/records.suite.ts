import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import type { PageRequest } from '../page.ts';
import type { NewAgent } from '../records.ts';
import type { Store } from '../store.ts';
import { commitOne } from '../write.ts';
import { type CreateStore, codeOf, create, numRuns, owned, start, withStore } from './samples.suite.ts';

export function recordsSuite(createStore: CreateStore): void {
  it('[T1] a record is found only with the workspace it belongs to', () =>
    withStore(createStore, async ({ store }) => {
      await store.agents.create(agent('agent_1'));
      await store.environments.create({ workspaceId: 'w1', id: 'env_1', createdAt: start, data: {} });
      await commitOne(store, create('sesn_1'));
      expect(await store.agents.get('w2', 'agent_1')).toBeUndefined();
      expect(await store.environments.get('w2', 'env_1')).toBeUndefined();
      expect(await store.sessions.get('w2', 'sesn_1')).toBeUndefined();
      expect((await store.agents.list({ workspaceId: 'w2', limit: 10 })).items).toEqual([]);
      expect((await store.environments.list({ workspaceId: 'w2', limit: 10 })).items).toEqual([]);
      expect((await store.sessions.list({ workspaceId: 'w2', limit: 10 })).items).toEqual([]);
      const other = { workspaceId: 'w2', id: 'agent_1', updatedAt: start, data: {} };
      expect(await codeOf(store.agents.addVersion(other))).toBe('not_found');
      expect(await codeOf(store.agents.archive('w2', 'agent_1', start))).toBe('not_found');
      expect(await codeOf(store.environments.delete('w2', 'env_1'))).toBe('not_found');
      expect(await store.sessions.get('w1', 'sesn_1')).toMatchObject({ id: 'sesn_1', workspaceId: 'w1', revision: 1 });
    }));

  it('[T2] a change of an agent is a new version, and the old ones stay as they were', () =>
    withStore(createStore, async ({ store }) => {
      const first = await store.agents.create(agent('agent_1', { data: { name: 'one' } }));
      const change = { workspaceId: 'w1', id: 'agent_1', updatedAt: start + 5, data: { name: 'two' } };
      const second = await store.agents.addVersion({ ...change, ifVersion: 1 });
      expect(first).toEqual({
        ...agent('agent_1', { data: { name: 'one' } }),
        version: 1,
        updatedAt: start,
        archivedAt: null,
      });
      expect(second).toEqual({ ...first, version: 2, updatedAt: start + 5, data: { name: 'two' } });
      expect(await store.agents.get('w1', 'agent_1')).toEqual(second);
      expect(await store.agents.get('w1', 'agent_1', 1)).toEqual(first);
      expect(await store.agents.get('w1', 'agent_1', 3)).toBeUndefined();
      const versions = await store.agents.listVersions({ workspaceId: 'w1', id: 'agent_1', limit: 1 });
      expect(versions.items).toEqual([second]);
      const rest = await store.agents.listVersions({
        workspaceId: 'w1',
        id: 'agent_1',
        limit: 1,
        cursor: versions.next!,
      });
      expect([rest.items, rest.next]).toEqual([[first], null]);
    }));

  it('[T2] a version made on an older one is refused, and so is one of an archived agent', () =>
    withStore(createStore, async ({ store }) => {
      await store.agents.create(agent('agent_1'));
      const change = { workspaceId: 'w1', id: 'agent_1', updatedAt: start, data: {} };
      const made = await Promise.all([1, 2].map(() => codeOf(store.agents.addVersion({ ...change, ifVersion: 1 }))));
      expect(made.sort()).toEqual(['ok', 'version_conflict']);
      expect(await codeOf(store.agents.addVersion(change))).toBe('ok');
      expect(await codeOf(store.agents.create(agent('agent_1')))).toBe('already_exists');
      const archived = await store.agents.archive('w1', 'agent_1', start + 1);
      expect(archived).toMatchObject({ version: 3, archivedAt: start + 1 });
      expect(await store.agents.archive('w1', 'agent_1', start + 2)).toEqual(archived);
      expect(await codeOf(store.agents.addVersion(change))).toBe('archived');
      expect((await store.agents.list({ workspaceId: 'w1', limit: 10 })).items).toEqual([]);
      expect((await store.agents.list({ workspaceId: 'w1', limit: 10, includeArchived: true })).items).toEqual([
        archived,
      ]);
    }));

  it('[T4] an environment is changed at a known revision, archived once and deleted', () =>
    withStore(createStore, async ({ store }) => {
      const { environments } = store;
      await environments.create({ workspaceId: 'w1', id: 'env_1', createdAt: start, data: { a: 1 } });
      const change = { workspaceId: 'w1', id: 'env_1', updatedAt: start + 1, data: { a: 2 } };
      const updated = await environments.update({ ...change, ifRevision: 1 });
      expect(updated).toMatchObject({ revision: 2, createdAt: start, updatedAt: start + 1, data: { a: 2 } });
      expect(await codeOf(environments.update({ ...change, ifRevision: 1 }))).toBe('version_conflict');
      expect(await environments.archive('w1', 'env_1', start + 2)).toMatchObject({ archivedAt: start + 2 });
      expect(await environments.archive('w1', 'env_1', start + 3)).toMatchObject({ archivedAt: start + 2 });
      expect(await codeOf(environments.update(change))).toBe('archived');
      await environments.delete('w1', 'env_1');
      expect(await environments.get('w1', 'env_1')).toBeUndefined();
      expect(await codeOf(environments.delete('w1', 'env_1'))).toBe('not_found');
    }));

  it('[T3] pages give each item once, whatever is inserted and deleted between them', () =>
    withStore(createStore, async ({ store }) => {
      for (const [index, time] of [3, 1, 2, 2, 5].entries()) await addAgent(store, `agent_${index}`, time);
      const first = await store.agents.list({ workspaceId: 'w1', limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(['agent_4', 'agent_0']);
      expect(first.previous).toBeNull();
      // One before the cursor, one right behind it.
      await addAgent(store, 'agent_5', 9);
      await addAgent(store, 'agent_6', 2);
      const second = await store.agents.list({ workspaceId: 'w1', limit: 2, cursor: first.next! });
      expect(second.items.map(({ id }) => id)).toEqual(['agent_6', 'agent_3']);
      const third = await store.agents.list({ workspaceId: 'w1', limit: 2, cursor: second.next! });
      expect(third.items.map(({ id }) => id)).toEqual(['agent_2', 'agent_1']);
      expect(third.next).toBeNull();
      const back = await store.agents.list({ workspaceId: 'w1', limit: 2, cursor: third.previous! });
      expect(back.items).toEqual(second.items);
      const front = await store.agents.list({ workspaceId: 'w1', limit: 9, cursor: back.previous! });
      expect(front.items.map(({ id }) => id)).toEqual(['agent_5', 'agent_4', 'agent_0']);
      expect(front.previous).toBeNull();
    }));

  it('[T3] walking a list in pages of any size, forth and back, in either order, gives the list', async () => {
    const times = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 });
    const property = fc.asyncProperty(
      times,
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (all, limit, isAsc) => {
        await withStore(createStore, async ({ store }) => {
          for (const [index, time] of all.entries()) await addAgent(store, `agent_${index}`, time);
          const order = isAsc ? ('asc' as const) : ('desc' as const);
          const list = (request: Partial<PageRequest>) =>
            store.agents
              .list({ workspaceId: 'w1', limit, order, ...request })
              .then((page) => ({ ...page, ids: page.items.map(({ id }) => id) }));
          const whole = (await list({ limit: 100 })).ids;
          const pages = [await list({})];
          while (pages.at(-1)!.next !== null) pages.push(await list({ cursor: pages.at(-1)!.next! }));
          expect(pages.flatMap(({ ids }) => ids)).toEqual(whole);
          let page = pages.at(-1)!;
          for (const before of pages.slice(0, -1).toReversed()) {
            page = await list({ cursor: page.previous! });
            expect(page.ids).toEqual(before.ids);
          }
          expect(page.previous).toBeNull();
        });
      },
    );
    await fc.assert(property, { numRuns });
  });

  it('[T3] a cursor of another list or order, outside of the time asked for, or made up is refused', () =>
    withStore(createStore, async ({ store }) => {
      for (const time of [1, 2, 3]) await addAgent(store, `agent_${time}`, time);
      const request = { workspaceId: 'w1', limit: 1 };
      const cursor = (await store.agents.list(request)).next!;
      expect(await codeOf(store.agents.list({ ...request, cursor }))).toBe('ok');
      expect(await codeOf(store.agents.list({ ...request, cursor, order: 'asc' }))).toBe('invalid_cursor');
      expect(await codeOf(store.agents.list({ ...request, cursor, createdTo: start }))).toBe('invalid_cursor');
      expect(await codeOf(store.environments.list({ ...request, cursor }))).toBe('invalid_cursor');
      for (const made of ['', 'x', 'bnVsbA', 'WzEsMiwzLDQsNV0']) {
        expect(await codeOf(store.agents.list({ ...request, cursor: made }))).toBe('invalid_cursor');
      }
      expect(await codeOf(store.agents.list({ ...request, limit: storeLimits.pageItemsMax }))).toBe('ok');
      for (const limit of [0, storeLimits.pageItemsMax + 1, 1.5, Number.NaN]) {
        expect(await codeOf(store.agents.list({ ...request, limit }))).toBe('invalid_limit');
      }
    }));

  it('[T3] sessions are filtered by agent, version, status, time and archive; threads by status', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1', { createdAt: start + 1 }));
      await commitOne(store, create('sesn_2', { createdAt: start + 2, agentId: 'agent_2', status: 'running' }));
      await commitOne(store, create('sesn_3', { createdAt: start + 3, agentVersion: 2 }));
      const fence = await owned(store, 'sesn_4');
      const archive = {
        type: 'update_session',
        updatedAt: start,
        patch: { archivedAt: start, status: 'terminated' },
      } as const;
      const threads = (['idle', 'running'] as const).map((status) => ({
        type: 'create_thread' as const,
        thread: { id: `sthr_${status}`, parentThreadId: null, status, createdAt: start, data: {} },
      }));
      const changes = [archive, ...threads];
      await commitOne(store, { type: 'append', sessionId: 'sesn_4', fence, frames: [], changes });
      const ids = async (request: object) =>
        (await store.sessions.list({ workspaceId: 'w1', limit: 10, ...request })).items
          .map(({ id }) => id.slice(-1))
          .join('');
      expect(await ids({})).toBe('321');
      expect(await ids({ includeArchived: true })).toBe('3214');
      expect(await ids({ agentId: 'agent_1', order: 'asc' })).toBe('13');
      expect(await ids({ agentId: 'agent_1', agentVersion: 2 })).toBe('3');
      expect(await ids({ statuses: ['running', 'terminated'], includeArchived: true })).toBe('24');
      expect(await ids({ createdFrom: start + 2, createdTo: start + 2 })).toBe('2');
      expect(await ids({ updatedFrom: start + 2 })).toBe('32');
      expect(await ids({ updatedFrom: start + 2, includeArchived: true })).toBe('32');
      const changed = { workspaceId: 'w1', updatedFrom: start + 2, limit: 1 };
      const { items, next } = await store.sessions.listChanged(changed);
      expect(items).toEqual([{ id: 'sesn_3', createdAt: start + 3 }]);
      const rest = { ...changed, limit: 10, cursor: next!, statuses: ['running'] as const };
      expect((await store.sessions.listChanged(rest)).items).toEqual([{ id: 'sesn_2', createdAt: start + 2 }]);
      const found = await store.threads.list({ sessionId: 'sesn_4', limit: 10, statuses: ['running'] });
      expect(found.items.map(({ id }) => id)).toEqual(['sthr_running']);
      expect((await store.threads.list({ sessionId: 'sesn_1', limit: 10 })).items).toEqual([]);
    }));

  it('[T17] data is stored as its JSON at that moment, whatever happens to the object afterwards', () =>
    withStore(createStore, async ({ store }) => {
      const data = { list: [1, { deep: 'ü\u0000\ud83d\ude00' }], date: new Date(0), gone: undefined };
      await store.agents.create(agent('agent_1', { data }));
      data.list.push(2);
      const kept = { list: [1, { deep: 'ü\u0000\ud83d\ude00' }], date: '1970-01-01T00:00:00.000Z' };
      expect((await store.agents.get('w1', 'agent_1'))?.data).toEqual(kept);
    }));
}

function agent(id: string, over: Partial<NewAgent> = {}): NewAgent {
  return { workspaceId: 'w1', id, createdAt: start, data: {}, ...over };
}

async function addAgent(store: Store, id: string, time: number): Promise<void> {
  await store.agents.create(agent(id, { createdAt: start + time }));
}
