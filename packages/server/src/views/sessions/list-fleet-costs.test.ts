import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { fleetCosts } from '../../http/schemas/fleet-sessions.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts';
import { commitOne } from '../../store/write.ts';
import { viewLimits } from '../limits.ts';
import { listFleetCosts } from './list-fleet-costs.ts';
import { listFleetSessions } from './list-fleet-sessions.ts';
import { addManySessions } from './many-sessions.suite.ts';

const workspaceId = 'w1';
const now = Date.UTC(2026, 0, 10);

it('[V204, V206] costs cover all sessions of the period, with at most 50 that cost most, and reject a period that is too long', async () => {
  const store = createMemoryStore();
  await addManySessions(store, { workspaceId, count: 200, now });
  const costs = fleetCosts.parse(await listFleetCosts(store, { workspaceId, query: {}, now }));
  const sum = (pick: (group: (typeof costs.groups)[number]) => number) =>
    costs.groups.reduce((total, group) => total + pick(group), 0);
  expect(sum(({ sessions_count: count }) => count)).toBe(200);
  // One of 50 has no known cost; the others cost their number in thousandths of a dollar.
  expect(sum(({ unpriced_count: count }) => count)).toBe(4);
  expect(sum(({ cost_usd: cost }) => cost)).toBeCloseTo((199 * 200) / 2 / 1_000 - (50 + 100 + 150) / 1_000);
  expect(costs.groups.every(({ day }) => day === '2026-01-09')).toBe(true);
  expect(costs.sessions).toHaveLength(viewLimits.costSessionsMax);
  expect(costs.sessions[0]).toMatchObject({ cost_usd: 0.199 });
  expect(costs).toMatchObject({ budgets: [], budget_counts: { reached: 0, within: 0 }, unlisted_count: 0 });

  const to = new Date(now).toISOString();
  const since = (ms: number) => ({ from: new Date(now - ms).toISOString(), to });
  const read = (query: object) => listFleetCosts(store, { workspaceId, query, now });
  expect((await read(since(viewLimits.costsPeriodMsMax))).sessions).toHaveLength(50);
  await expect(read(since(viewLimits.costsPeriodMsMax + 1))).rejects.toMatchObject({ code: 'invalid_period' });
  await expect(read(since(-1))).rejects.toMatchObject({ code: 'invalid_period' });
  expect((await read({ to: new Date(now - 7_200_000).toISOString() })).groups).toEqual([]);
});

it('[V206] a response has at most 10,000 groups', async () => {
  const { costGroupsMax: max } = viewLimits;
  const store = createMemoryStore();
  const group = { day: 1, agentName: 'a', model: 'm', count: 1, unpriced: 0, costNanoUsd: 1, tokens: 1 };
  const read = (groups: number) => {
    const summaries = { ...store.summaries, sum: async () => Array.from({ length: groups }, () => group) };
    return listFleetCosts({ summaries }, { workspaceId, query: {}, now });
  };
  expect((await read(max)).groups).toHaveLength(max);
  await expect(read(max + 1)).rejects.toMatchObject({ code: 'too_many_groups' });
});

it('[R502] the largest amounts of many sessions have a sum, and the lists of sessions and costs take turns', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-costs-'));
  const store = await openSqliteStore({ path: join(folder, 'costs.db') });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  await addManySessions(store, { workspaceId, count: 20, now });
  const { items } = await store.summaries.list({ workspaceId, now, ...newest });
  for (const { sessionId, ...summary } of items) {
    const lease = await store.leases.acquire({ sessionId, owner: 'a', ttlMs: 1_000 });
    const most = { search: '', costNanoUsd: Number.MAX_SAFE_INTEGER, tokens: Number.MAX_SAFE_INTEGER };
    const change = { type: 'put_summary', summary: { ...summary, ...most, agentName: 'a', model: 'm' } } as const;
    const fence = lease.ok ? lease.fence : 0;
    await commitOne(store, { type: 'append', sessionId, fence, frames: [], changes: [change] });
  }
  const read = () => listFleetCosts(store, { workspaceId, query: {}, now });
  const { groups } = fleetCosts.parse(await read());
  expect(groups.map(({ tokens }) => tokens)).toEqual(groups.map(() => Number.MAX_SAFE_INTEGER));
  let turn = 0;
  let isOver = false;
  const count = () => void (isOver || (turn++, setImmediate(count)));
  setImmediate(count);
  const list = () => listFleetSessions(store, { workspaceId, query: {}, now }).then(() => turn);
  const turns = await Promise.all([list(), list(), list(), list()]);
  isOver = true;
  expect(new Set(turns).size).toBe(turns.length);
});

const newest = { includesArchived: true, sort: 'activity', order: 'desc', limit: 100 } as const;
