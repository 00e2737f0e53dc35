import { expect, it } from 'vitest';
import { storeLimits } from '../limits.ts';
import type { Store } from '../store.ts';
import { DAY_MS, type SessionSummary, type SummaryListRequest, type SummarySumRequest } from '../summaries.ts';
import { type Change, commitOne } from '../write.ts';
import { append, codeOf, create, type CreateStore, owned, start, withStore } from './samples.suite.ts';

/** Summaries of sessions: what lists of all sessions filter, sort and count by. */
export function summariesSuite(createStore: CreateStore): void {
  it('[T71] a summary is written in the commit of its frames, and a rejected write leaves the previous one', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      expect((await list(store)).missing).toBe(1);
      await commitOne(store, append('sesn_1', fence, ['a'], [put({ state: 'running', data: { n: 1 } })]));
      expect(await list(store)).toMatchObject({
        items: [{ sessionId: 'sesn_1', state: 'running', data: { n: 1 } }],
        missing: 0,
      });
      await expect(commitOne(store, append('sesn_1', fence + 1, ['b'], [put({ state: 'done' })]))).rejects.toThrow();
      await commitOne(store, append('sesn_1', fence, ['c'], [put({ createdAt: start + 9, costNanoUsd: null })]));
      const [item] = (await list(store)).items;
      // The time of creation stays.
      expect(item).toEqual({ ...sample(), sessionId: 'sesn_1', costNanoUsd: null, search: undefined });
      expect(await store.summaries.getAll('w1', ['sesn_1', 'sesn_2'])).toEqual([item]);
      expect(await store.summaries.getAll('w2', ['sesn_1'])).toEqual([]);
      expect(await store.summaries.getAll('w1', [])).toEqual([]);
      expect((await list(store, { workspaceId: 'w2' })).items).toEqual([]);
    }));

  it('[T71] the summary of a deleted session is gone at once', () =>
    withStore(createStore, async ({ store }) => {
      const fence = await owned(store, 'sesn_1');
      await commitOne(store, append('sesn_1', fence, [], [put()]));
      await commitOne(store, { type: 'delete', sessionId: 'sesn_1', fence });
      expect(await list(store)).toEqual({ items: [], next: null, groups: [], missing: 0 });
      await commitOne(store, create('sesn_1'));
      expect(await store.summaries.findMissing(9)).toEqual(['sesn_1']);
    }));

  it('[T72] every sort order lists each session once, page by page, and rejects the cursor of another order', () =>
    withStore(createStore, async ({ store }) => {
      const summaries = Array.from({ length: 7 }, (_, n) => ({
        state: (['done', 'needs_you', 'running', 'failed'] as const)[n % 4]!,
        stallsAt: n === 2 ? start : null,
        agentName: `agent ${n % 3}`,
        costNanoUsd: n === 0 ? null : n % 2,
        tokens: 7 - n,
        activeMs: n % 3,
        activityAt: start + (n % 2),
        search: n % 2 === 0 ? 'ä' : `z${n}`,
      }));
      for (const [n, each] of summaries.entries())
        await commitOne(store, made(`sesn_${n}`, { ...each, createdAt: start - n }));
      for (const sort of ['activity', 'created', 'cost', 'tokens', 'duration', 'name', 'agent', 'state'] as const) {
        for (const order of ['asc', 'desc'] as const) {
          const whole = (await list(store, { sort, order })).items.map(({ sessionId }) => sessionId);
          expect(new Set(whole).size, sort).toBe(7);
          const paged: string[] = [];
          for (let cursor: string | null | undefined; cursor !== null; ) {
            const page = await list(store, { sort, order, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
            paged.push(...page.items.map(({ sessionId }) => sessionId));
            cursor = page.next;
          }
          expect(paged, `${sort} ${order}`).toEqual(whole);
        }
      }
      const ids = async (request: Partial<SummaryListRequest>) =>
        (await list(store, request)).items.map(({ sessionId }) => sessionId.slice(-1)).join('');
      expect(await ids({ sort: 'created', order: 'asc' })).toBe('6543210');
      expect(await ids({ sort: 'tokens', order: 'asc' })).toBe('6543210');
      expect(await ids({ sort: 'cost', order: 'asc' })).toBe('0246135');
      // Those that need a person, then the stalled, the failed, the running and the finished one; the newest first.
      expect(await ids({ sort: 'state', order: 'asc' })).toBe('1523604');
      const { next } = await list(store, { limit: 2 });
      expect(await codeOf(list(store, { cursor: next!, sort: 'cost' }))).toBe('invalid_cursor');
      expect(await codeOf(list(store, { cursor: next!, order: 'asc' }))).toBe('invalid_cursor');
      for (const cursor of [
        'x',
        'WzFd',
        `${next}=`,
        Buffer.from('["summaries","activity","desc","a",1]').toString('base64url'),
      ])
        expect(await codeOf(list(store, { cursor }))).toBe('invalid_cursor');
      expect(await codeOf(list(store, { limit: storeLimits.pageItemsMax + 1 }))).toBe('invalid_limit');
      expect(await codeOf(list(store, { limit: storeLimits.pageItemsMax }))).toBe('ok');
    }));

  it('[T73] counts cover everything that the filter matches, and a running session is stalled from its time on', () =>
    withStore(createStore, async ({ store }) => {
      const rows = [
        { state: 'running', stallsAt: start + 10, agentName: 'a' },
        { state: 'running', stallsAt: null, agentName: 'a' },
        { state: 'needs_you', stallsAt: start, agentName: 'b' },
        { state: 'archived', agentName: 'b', costNanoUsd: 5 },
        { state: 'done', agentName: 'b', activityAt: start + 5 },
      ] as const;
      for (const [n, each] of rows.entries()) await commitOne(store, made(`sesn_${n}`, each));
      const count = async (request: Partial<SummaryListRequest>) => {
        const { groups, items } = await list(store, request);
        const lines = groups.map(({ state, agentName, model, count: n }) => `${state} ${agentName} ${model} ${n}`);
        return [items.length, ...lines.toSorted()];
      };
      expect(await count({ now: start + 9 })).toEqual([
        4,
        'archived b m 1',
        'done b m 1',
        'needs_you b m 1',
        'running a m 2',
      ]);
      expect(await count({ now: start + 10, states: ['stalled'] })).toEqual([
        1,
        'archived b m 1',
        'done b m 1',
        'needs_you b m 1',
        'running a m 1',
        'stalled a m 1',
      ]);
      expect((await count({ states: ['archived'] }))[0]).toBe(1);
      expect((await count({ includesArchived: true }))[0]).toBe(5);
      expect((await count({ agents: ['b'], models: ['m'] }))[0]).toBe(2);
      expect((await count({ models: ['n'] }))[0]).toBe(0);
      expect(await count({ costNanoUsdMin: 2, includesArchived: true })).toEqual([1, 'archived b m 1']);
      expect(await count({ activeFrom: start + 5 })).toEqual([1, 'done b m 1']);
      expect(await count({ createdTo: start - 1 })).toEqual([0]);
    }));

  it('[T74] a search finds every word in any order, or the beginning of an id', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, made('sesn_01aa', { search: 'fix the queue\n100% done_ß\nlead' }));
      await commitOne(store, made('sesn_01ab', { search: 'write the docs\nscout' }));
      const find = async (request: Partial<SummaryListRequest>) =>
        (await list(store, request)).items.map(({ sessionId }) => sessionId).toSorted();
      expect(await find({ words: ['the'] })).toEqual(['sesn_01aa', 'sesn_01ab']);
      expect(await find({ words: ['queue', 'lead'] })).toEqual(['sesn_01aa']);
      expect(await find({ words: ['queue', 'scout'] })).toEqual([]);
      // Characters that mean something in patterns stand for themselves.
      expect(await find({ words: ['0%'] })).toEqual(['sesn_01aa']);
      expect(await find({ words: ['%'] })).toEqual(['sesn_01aa']);
      expect(await find({ words: ['e_ß'] })).toEqual(['sesn_01aa']);
      expect(await find({ words: ["'"] })).toEqual([]);
      expect(await find({ words: ['01ab'], wordsOrIdPrefix: 'sesn_01ab' })).toEqual(['sesn_01ab']);
      expect(await find({ words: ['queue'], wordsOrIdPrefix: 'sesn_01ab' })).toEqual(['sesn_01aa', 'sesn_01ab']);
      expect(await find({ idPrefix: 'sesn_01a' })).toEqual(['sesn_01aa', 'sesn_01ab']);
      expect(await find({ idPrefix: 'sesn_01aa' })).toEqual(['sesn_01aa']);
      expect(await find({ idPrefix: 'sesn_01ac' })).toEqual([]);
    }));

  it('[V204] sums are made by local day, agent and model of all sessions created in the period, and a session of unknown cost is counted apart', () =>
    withStore(createStore, async ({ store }) => {
      const midnight = Math.ceil(start / DAY_MS) * DAY_MS;
      const rows = [
        { createdAt: midnight - 1, costNanoUsd: 5_000_000_000_000, tokens: 10 },
        { createdAt: midnight - 1, costNanoUsd: 7, tokens: 1, state: 'archived' },
        { createdAt: midnight, costNanoUsd: null, tokens: 4 },
        { createdAt: midnight, costNanoUsd: 3, tokens: 5, agentName: 'B' },
        { createdAt: midnight + DAY_MS, costNanoUsd: 9, tokens: 5, data: { budget_state: 'reached' } },
      ] as const;
      for (const [n, each] of rows.entries()) await commitOne(store, made(`sesn_${n}`, each));
      const sum = async (over: Partial<SummarySumRequest> = {}) => {
        const [createdFrom, createdTo] = [midnight - 1, midnight + DAY_MS - 1];
        const sums = await store.summaries.sum({
          workspaceId: 'w1',
          createdFrom,
          createdTo,
          offsetMs: 0,
          limit: 9,
          ...over,
        });
        return sums.map(({ day, agentName, count, unpriced, costNanoUsd, tokens }) =>
          [day - midnight / DAY_MS, agentName, count, unpriced, costNanoUsd, tokens].join(' '),
        );
      };
      expect(await sum()).toEqual(['0 B 1 0 3 5', '0 a 1 1 0 4', '-1 a 2 0 5000000000007 11']);
      expect(await sum({ limit: 2 })).toEqual(['0 B 1 0 3 5', '0 a 1 1 0 4']);
      expect(await sum({ offsetMs: 60_000 })).toEqual(['0 B 1 0 3 5', '0 a 3 1 5000000000007 15']);
      expect(await sum({ offsetMs: -60_000, createdTo: midnight })).toEqual([
        '-1 B 1 0 3 5',
        '-1 a 3 1 5000000000007 15',
      ]);
      expect(await sum({ createdFrom: midnight + 1 })).toEqual([]);
      expect(await sum({ workspaceId: 'w2' })).toEqual([]);
      const found = await list(store, { budgetState: 'reached', createdFrom: midnight });
      expect(found.items.map(({ sessionId }) => sessionId)).toEqual(['sesn_4']);
      expect(found.groups).toMatchObject([{ count: 1 }]);
      expect((await list(store, { budgetState: 'within' })).items).toEqual([]);
      expect((await list(store, { createdFrom: midnight + 1 })).items).toHaveLength(1);
    }));

  it('[T76] sessions without a summary are found and counted, and get one unless they have one by then', () =>
    withStore(createStore, async ({ store }) => {
      await commitOne(store, create('sesn_1', { createdAt: start + 3 }));
      await commitOne(store, create('sesn_2'));
      await commitOne(store, made('sesn_3'));
      expect((await list(store)).missing).toBe(2);
      expect((await store.summaries.findMissing(9)).toSorted()).toEqual(['sesn_1', 'sesn_2']);
      expect(await store.summaries.findMissing(1)).toHaveLength(1);
      await store.summaries.add('sesn_1', sample({ state: 'failed' }));
      await store.summaries.add('sesn_1', sample({ state: 'done' }));
      await store.summaries.add('sesn_3', sample({ state: 'failed' }));
      await store.summaries.add('sesn_4', sample());
      expect(await store.summaries.findMissing(9)).toEqual(['sesn_2']);
      const { items } = await list(store, { sort: 'created', order: 'asc' });
      expect(items).toMatchObject([
        { sessionId: 'sesn_3', state: 'done' },
        { sessionId: 'sesn_1', state: 'failed', createdAt: start + 3 },
      ]);
    }));
}

function sample(over: Partial<SessionSummary> = {}): SessionSummary {
  return {
    state: 'done',
    stallsAt: null,
    agentName: 'a',
    model: 'm',
    createdAt: start,
    activityAt: start,
    costNanoUsd: 1,
    tokens: 2,
    activeMs: 3,
    search: 'name',
    data: { name: 'Name' },
    ...over,
  };
}

function put(over?: Partial<SessionSummary>): Change {
  return { type: 'put_summary', summary: sample(over) };
}

function made(id: string, over?: Partial<SessionSummary>) {
  return { ...(create(id) as Extract<ReturnType<typeof create>, { type: 'create' }>), changes: [put(over)] };
}

function list(store: Store, over: Partial<SummaryListRequest> = {}) {
  const order = { sort: 'activity', order: 'desc' } as const;
  return store.summaries.list({
    workspaceId: 'w1',
    now: start,
    includesArchived: false,
    ...order,
    limit: 100,
    ...over,
  });
}
