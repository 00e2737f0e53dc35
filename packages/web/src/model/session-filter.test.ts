import type { FleetSession } from '@fleetloom/protocol/fleet';
import { expect, it } from 'vitest';
import { toSessionCells } from './session-cells.ts';
import { formatFilter, isFiltered, isListedBy, noFilter, parseFilter, toQuery } from './session-filter.ts';

it('[Z221] a filter converts to an address and back; values that do not exist are ignored', () => {
  const searches = [
    '',
    'q=flaky+test',
    'status=needs_you&status=failed&agent=a+b&agent=c&model=m%2F1',
    'sort=cost',
    'sort=name&order=desc',
    'order=asc',
  ];
  for (const search of searches) expect(formatFilter(parseFilter(search))).toBe(search);
  expect(parseFilter('status=nonsense&sort=nonsense&order=up&x=1')).toEqual(noFilter);
  expect(parseFilter('sort=name')).toMatchObject({ sort: 'name', order: 'asc' });
  expect(toQuery(parseFilter('q=+a+&sort=state'))).toEqual({ q: 'a', sort: 'state', order: 'asc' });
  expect([isFiltered(parseFilter('sort=cost')), isFiltered(parseFilter('q=a'))]).toEqual([false, true]);
});

it('[Z221] archived sessions are listed only if the filter names them', () => {
  const row = { state: 'archived', agent: { id: 'agent_1', name: 'a' }, model: 'm' } as FleetSession;
  expect(isListedBy(noFilter, row)).toBe(false);
  expect(isListedBy({ ...noFilter, status: ['archived'] }, row)).toBe(true);
  expect(isListedBy({ ...noFilter, status: ['archived'], agent: ['b'] }, row)).toBe(false);
});

it('[Z220] the cells of a row: state at that time, name of the repository, lines, cost, start and duration', () => {
  const now = new Date(2026, 4, 5, 12).getTime();
  const row: FleetSession = {
    type: 'fleet_session',
    id: 'sesn_1',
    short_id: '1',
    name: 'Fix\u202e it',
    title: null,
    state: 'running',
    reason: null,
    stalls_at: new Date(now + 1_000).toISOString(),
    agent: { id: 'agent_1', name: 'fixer' },
    model: 'm',
    repository: 'https://example.com/team/project.git',
    branch: 'main',
    changes: { files_count: 2, lines_added: 10, lines_removed: 3 },
    cost_usd: null,
    tokens: 1_500,
    created_at: new Date(now - 60_000).toISOString(),
    started_at: new Date(now - 60_000).toISOString(),
    ended_at: null,
    active_ms: 5_000,
    active_since: new Date(now - 10_000).toISOString(),
    last_activity_at: new Date(now).toISOString(),
    needs_you_count: 0,
    threads_count: 1,
    stalled_threads_count: 0,
    failed_threads_count: 0,
    created_by: 'first key',
    is_read_only: false,
  };
  const cells = toSessionCells(row, now);
  expect(cells).toMatchObject({
    word: 'running',
    repository: 'project',
    branch: 'main',
    added: 10,
    removed: 3,
    files: 2,
  });
  expect(cells).toMatchObject({ cost: '?', tokens: '1.5k', started: '11:59', duration: '15 s', who: 'first key' });
  expect(cells.name).not.toContain('\u202e');
  expect(toSessionCells(row, now)).toBe(cells);
  expect(toSessionCells(row, now + 1_000)).toMatchObject({ word: 'stalled', duration: '16 s' });
  const old = { ...row, started_at: '2025-01-02T12:00:00Z', repository: 'C:\\work\\other\\' };
  expect(toSessionCells(old, now)).toMatchObject({ started: '2025-01-02', repository: 'other' });
});
