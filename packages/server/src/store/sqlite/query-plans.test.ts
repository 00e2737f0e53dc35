import type { Compilable } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import * as queries from '../sql/queries.ts';
import { countMissing, groupSummaries, listSummaries } from '../sql/summaries.ts';
import { build } from './build.ts';
import { Database } from './database.ts';
import { createSqliteStore } from './sqlite-store.ts';

const database = await Database.open(':memory:');
const store = createSqliteStore(database);
afterAll(() => store.close());

/** How SQLite runs a query, one step per line. */
function planOf(query: Compilable): string {
  const { sql, parameters } = query.compile();
  const steps = database.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
  return steps.map(({ detail }) => detail).join('\n');
}

const page = { workspaceId: 'w1', limit: 100 };

const summaries = { ...page, now: 5, includesArchived: false, sort: 'activity', order: 'desc' } as const;

it.each([
  ['by activity', listSummaries(build, 'instr', summaries), 'summaries_by_activity'],
  ['by creation', listSummaries(build, 'instr', { ...summaries, sort: 'created' }), 'summaries_by_creation'],
  ['by id', listSummaries(build, 'instr', { ...summaries, idPrefix: 'sesn_01' }), 'summaries_by_id'],
  ['in groups', groupSummaries(build, 'instr', summaries), 'COVERING INDEX summaries_by_state'],
  ['without a summary', countMissing(build, 'w1'), 'COVERING INDEX sessions_by_'],
] as const)('[T77] summaries %s are found by an index, and no table is scanned', (_, query, index) => {
  const plan = planOf(query);
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/^SCAN (summaries|sessions)/m);
});

it.each([
  ['sessions', queries.listSessions(build, page), 'sessions_by_creation'],
  ['sessions by update', queries.listSessions(build, { ...page, updatedFrom: 5 }), 'sessions_by_update'],
  ['changed sessions', queries.listChangedSessions(build, { ...page, updatedFrom: 5 }), 'sessions_by_update'],
  ['agents', queries.listAgents(build, page), 'agents_by_creation'],
  ['environments', queries.listEnvironments(build, page), 'environments_by_creation'],
  ['pending approvals', queries.listApprovals(build, { ...page, isPending: true }), 'approvals_pending'],
  ['approvals', queries.listApprovals(build, page), 'approvals_by_creation'],
  ['threads', queries.listThreads(build, { sessionId: 'sesn_1', limit: 100 }), 'sqlite_autoindex_threads_1'],
  ['inputs', queries.peekInputs(build, 'sesn_1', 100), 'sqlite_autoindex_inputs_1'],
] as const)('[T59] the list of %s is found by an index, and no table is scanned', (_, query, index) => {
  const plan = planOf(query);
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/^SCAN /m);
});
