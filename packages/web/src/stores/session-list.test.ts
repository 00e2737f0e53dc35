import type { FleetSession, FleetSessionList, FleetSessionQuery, FleetSessionState } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { noFilter } from '../model/session-filter.ts';
import { storeLimits } from './limits.ts';
import { joinHead, SessionList } from './session-list.ts';

/** A row; further fields do not matter to the list. */
function toRow(number: number, state: FleetSessionState = 'done'): FleetSession {
  return { id: `s${number}`, name: `Row ${number}`, state, agent: { id: 'a', name: 'a' }, model: 'm' } as FleetSession;
}

const noCounts = { needs_you: 0, running: 0, stalled: 0, failed: 0, done: 0, idle: 0, archived: 0 };

/** A list with a server of `all` rows, and timers that run by hand. */
function openList(all: FleetSession[]) {
  const asked: FleetSessionQuery[] = [];
  const timers: { readonly run: () => void; readonly ms: number }[] = [];
  let now = 0;
  const list = new SessionList({
    list: async (query): Promise<FleetSessionList> => {
      asked.push(query);
      const from = Number(query.cursor ?? 0);
      const to = from + query.limit!;
      const states = { ...noCounts, done: all.length };
      return {
        type: 'fleet_sessions',
        data: all.slice(from, to),
        total: all.length,
        facets: { states, agents: [], models: [] },
        unlisted_count: 0,
        next_cursor: to < all.length ? String(to) : null,
      };
    },
    later: (run, ms) => void timers.push({ run, ms }),
    now: () => now,
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  const wait = (ms: number) => {
    now += ms;
  };
  return { list, asked, timers, settle, wait };
}

it('[Z220] pages of the list are read until the screen is filled, each once', async () => {
  const rows = Array.from({ length: 2 * storeLimits.listPage + 1 }, (_, index) => toRow(index));
  const { list, asked, settle } = openList(rows);
  list.open(noFilter);
  expect(list.state).toBe('loading');
  await settle();
  expect([list.state, list.rows.length, list.total]).toEqual(['ready', storeLimits.listPage, rows.length]);
  list.need(storeLimits.listPage);
  await settle();
  expect(asked).toHaveLength(1);
  list.need(storeLimits.listPage + 1);
  list.need(storeLimits.listPage + 1);
  await settle();
  expect(list.rows).toHaveLength(2 * storeLimits.listPage);
  list.need(rows.length);
  await settle();
  expect(list.rows).toEqual(rows);
  expect(asked.map(({ cursor }) => cursor)).toEqual([undefined, '200', '400']);
});

it('[Z223] a changed row is replaced at once, and the first page is read again, at most every 2 s', async () => {
  const all = [toRow(2), toRow(1, 'running')];
  const { list, asked, timers, settle, wait } = openList(all);
  list.open(noFilter);
  await settle();
  wait(10_000);
  list.take({ sessions: [toRow(1, 'failed')], counts: { ...noCounts, done: 1, failed: 1 } });
  expect(list.rows.map(({ state }) => state)).toEqual(['done', 'failed']);
  expect(list.facets!.states).toEqual({ ...noCounts, done: 1, failed: 1 });
  all.unshift(toRow(3));
  list.take({ sessions: [toRow(3)], counts: { ...noCounts, done: 3 } });
  expect(timers.map(({ ms }) => ms)).toEqual([storeLimits.listDelayMs]);
  wait(storeLimits.listDelayMs);
  timers[0]!.run();
  await settle();
  expect(list.rows.map(({ id }) => id)).toEqual(['s3', 's2', 's1']);
  expect(asked).toHaveLength(2);
  list.take({ sessions: [toRow(3)], counts: { ...noCounts, done: 3 } });
  expect(timers[1]!.ms).toBe(storeLimits.listRefreshMs);
  // A list that is not on the screen reads nothing.
  list.close();
  const { length } = timers;
  wait(storeLimits.listRefreshMs);
  list.take({ sessions: [], counts: { ...noCounts, done: 2 } });
  expect(timers).toHaveLength(length);
});

it('[Z223] a row that the filter no longer selects leaves the list, and a deleted one after the next read', async () => {
  const all = [toRow(2, 'running'), toRow(1, 'running')];
  const { list, timers, settle } = openList(all);
  list.open({ ...noFilter, status: ['running'] });
  await settle();
  list.take({ sessions: [toRow(2, 'done')], counts: { ...noCounts, running: 1, done: 1 } });
  expect(list.rows.map(({ id }) => id)).toEqual(['s1']);
  // The counts of the filter are read again with its rows.
  expect(list.facets!.states).toEqual({ ...noCounts, done: 2 });
  all.splice(0, 2);
  list.take({ sessions: [], counts: { ...noCounts, done: 1 } });
  timers[0]!.run();
  await settle();
  expect([list.rows, list.total]).toEqual([[], 0]);
});

it('[Z224] a read that fails keeps the rows of the same filter and drops those of another', async () => {
  let isBroken = false;
  const page = { type: 'fleet_sessions', data: [toRow(1)], total: 1, unlisted_count: 0, next_cursor: null } as const;
  const facets = { states: { ...noCounts, done: 1 }, agents: [], models: [] };
  const list = new SessionList({
    list: async () => {
      if (isBroken) throw new Error('disk full');
      return { ...page, facets };
    },
    later: () => {},
    now: () => 0,
  });
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  list.open(noFilter);
  await settle();
  isBroken = true;
  list.reload();
  await settle();
  expect([list.state, list.problem, list.rows.length]).toEqual(['failed', 'disk full', 1]);
  list.open({ ...noFilter, q: 'x' });
  await settle();
  expect([list.state, list.rows.length]).toEqual(['failed', 0]);
});

it('[Z605] rows are complete after more new sessions than a page has, and after one that came between two pages', async () => {
  const { listPage } = storeLimits;
  const all = Array.from({ length: 2 * listPage }, (_, index) => toRow(2 * listPage - index));
  const { list, timers, settle, wait } = openList(all);
  list.open(noFilter);
  await settle();
  list.need(10 * listPage);
  await settle();
  expect(list.rows).toHaveLength(2 * listPage);
  const refresh = async () => {
    wait(10_000);
    timers.pop()!.run();
    await settle();
    await settle();
  };

  for (let number = 1; number <= listPage + 1; number++) all.unshift(toRow(2 * listPage + number));
  list.take({ sessions: [all[0]!], counts: { ...noCounts, done: all.length } });
  await refresh();
  expect(list.rows).toEqual(all);

  // It is above the cursor of the next page, so no page has it.
  const newest = toRow(0);
  list.open({ ...noFilter, q: 'row' });
  await settle();
  all.splice(listPage - 1, 0, newest);
  list.need(10 * listPage);
  await settle();
  expect(list.rows).not.toContain(newest);
  await refresh();
  expect(list.rows).toEqual(all);
});

it('[Z223] a newer first page is joined with the rows below it', () => {
  const ids = (rows: readonly FleetSession[]) => rows.map(({ id }) => id).join(' ');
  const old = [5, 4, 3, 2, 1].map((number) => toRow(number));
  // One row is new and pushes another one off the first page; one was removed.
  expect(ids(joinHead([toRow(6), toRow(5), toRow(3)], old))).toBe('s6 s5 s3 s2 s1');
  expect(ids(joinHead([toRow(9), toRow(8)], old))).toBe('s9 s8 s5 s4 s3 s2 s1');
});
