import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import type { Page, PageRequest } from '../page.ts';
import type { Store } from '../store.ts';
import { commitOne } from '../write.ts';
import { type CreateStore, create, owned, start, withStore } from './samples.suite.ts';

export function pageBytesSuite(createStore: CreateStore): void {
  it('[H125] a page ends before the item that would make it larger than 4 MiB, in every list and both ways', () =>
    withStore(createStore, async ({ store }) => {
      const quarter = storeLimits.pageBytesMax / 4;
      // The first four fill a page to the byte; of the next four the last is one byte too large; then two of their own.
      const sizes = [quarter, quarter, quarter, quarter, quarter, quarter, quarter, quarter + 1, quarter * 5, 20];
      const fence = await owned(store, 'sesn_of_threads');
      for (const [at, bytes] of sizes.entries()) await addEverywhere(store, fence, at, bytes);
      for (const list of listsOf(store)) {
        const pages = [await list({ order: 'asc', limit: 100 })];
        while (pages.at(-1)!.next !== null) {
          pages.push(await list({ order: 'asc', limit: 100, cursor: pages.at(-1)!.next! }));
        }
        expect(pages.map(({ items }) => items.length)).toEqual([4, 3, 1, 1, 1]);
        const all = pages.flatMap(({ items }) => items);
        expect(new Set(all.map(({ id, version }) => `${id} ${version}`)).size).toBe(10);
        const before = await list({ order: 'asc', limit: 100, cursor: pages[4]!.previous! });
        expect(before.items).toEqual(pages[3]!.items);
        const further = await list({ order: 'asc', limit: 100, cursor: pages[2]!.previous! });
        expect(further.items).toEqual(all.slice(3, 7));
        expect((await list({ order: 'asc', limit: 100, cursor: further.next! })).items).toEqual(pages[2]!.items);
        expect((await list({ order: 'desc', limit: 100 })).items).toHaveLength(1);
        expect((await list({ order: 'asc', limit: 2 })).items).toEqual(pages[0]!.items.slice(0, 2));
      }
    }));
}

type Listed = Page<{ readonly id: string; readonly version?: number }>;

function listsOf({ agents, environments, sessions, threads, documents }: Store) {
  const workspaceId = 'w1';
  return [
    (request: PageRequest): Promise<Listed> => agents.list({ workspaceId, ...request }),
    (request: PageRequest): Promise<Listed> =>
      agents.listVersions({ workspaceId: 'w2', id: 'agent_of_many', ...request }),
    (request: PageRequest): Promise<Listed> => environments.list({ workspaceId, ...request }),
    (request: PageRequest): Promise<Listed> => sessions.list({ workspaceId: 'w2', ...request }),
    (request: PageRequest): Promise<Listed> => threads.list({ sessionId: 'sesn_of_threads', ...request }),
    ({ limit, order = 'desc', cursor }: PageRequest): Promise<Listed> =>
      documents.list({ kind: 'k', limit, order, ...(cursor === undefined ? {} : { cursor }) }),
  ];
}

async function addEverywhere(store: Store, fence: number, at: number, bytes: number): Promise<void> {
  const data = { text: 'x'.repeat(bytes - JSON.stringify({ text: '' }).length) };
  const record = { workspaceId: 'w1', createdAt: start + at, data };
  await store.agents.create({ ...record, id: `agent_${at}` });
  // Apart from the other agents, and so are the sessions from the one with the threads.
  const many = { workspaceId: 'w2', id: 'agent_of_many' };
  if (at === 0) await store.agents.create({ ...record, ...many });
  else await store.agents.addVersion({ ...many, updatedAt: start, data });
  await store.environments.create({ ...record, id: `env_${at}` });
  await commitOne(store, create(`sesn_${at}`, { workspaceId: 'w2', createdAt: start + at, data }));
  await store.documents.put({ kind: 'k', id: `${at}`, data });
  const thread = { id: `sthr_${at}`, parentThreadId: null, status: 'idle' as const, createdAt: start + at, data };
  const changes = [{ type: 'create_thread' as const, thread }];
  await commitOne(store, { type: 'append', sessionId: 'sesn_of_threads', fence, frames: [], changes });
}
