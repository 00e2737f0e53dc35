import { sessionStates } from '@fleetloom/protocol/fleet';
import { type Expression, type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { JsonObject } from '../../base/json/json.ts';
import {
  DAY_MS,
  type SessionSummary,
  STATE_RANK_STEP,
  type SummaryGroup,
  type SummaryList,
  type SummaryListRequest,
  type SummaryRecord,
  type SummarySum,
  type SummarySumRequest,
} from '../summaries.ts';
import { readSummaryCursor, writeSummaryCursor } from '../summary-cursor.ts';
import type { Schema } from './schema.ts';

// Queries of summaries for both databases.

type Build = Kysely<Schema>;
type Row = Omit<Selectable<Schema['summaries']>, 'session_key' | 'workspace_id' | 'search'>;
/** The function that finds a text within another: databases have different names for it. */
export type FindText = 'instr' | 'strpos';

/** One page and one more row, which shows whether there is a next page. */
export function listSummaries(build: Build, findText: FindText, request: SummaryListRequest) {
  const { now, states, agents, models, includesArchived, order, limit } = request;
  const after = readSummaryCursor(request);
  const value = valueOf(request);
  let query = summariesOf(build, findText, request);
  if (states !== undefined) query = query.where(stateAt(now), 'in', states);
  else if (!includesArchived) query = query.where('state', '<>', 'archived');
  if (agents !== undefined) query = query.where('agent_name', 'in', agents);
  if (models !== undefined) query = query.where('model', 'in', models);
  if (after !== undefined) {
    const [pair, bound] = [sql`(${value}, session_id)`, sql`(${after.value}, ${after.id})`];
    query = query.where(order === 'asc' ? sql<SqlBool>`${pair} > ${bound}` : sql<SqlBool>`${pair} < ${bound}`);
  }
  const keys = query
    .select(['session_key as key', value.as('value')])
    .orderBy(value, order)
    .orderBy('session_id', order)
    .limit(limit + 1);
  // Sorts the keys only, not the data, in case there are many rows.
  return build
    .selectFrom(keys.as('k'))
    .innerJoin('summaries', 'summaries.session_key', 'k.key')
    .select([...COLUMNS, 'k.value'])
    .orderBy('k.value', order)
    .orderBy('session_id', order);
}

/** The counts of each state, agent and model. */
export function groupSummaries(build: Build, findText: FindText, request: SummaryListRequest) {
  return summariesOf(build, findText, request)
    .select([stateAt(request.now).as('state'), 'agent_name', 'model'])
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .groupBy([sql`1`, 'agent_name', 'model']);
}

/** The sums of each day, agent and model. All literals are integers, so the division is an integer division. */
export function sumSummaries(build: Build, request: SummarySumRequest) {
  const { workspaceId, createdFrom, createdTo, offsetMs, limit } = request;
  const day = sql<number | string>`(created_at + ${sql.lit(offsetMs)}) / ${sql.lit(DAY_MS)}`;
  return build
    .selectFrom('summaries')
    .where('workspace_id', '=', workspaceId)
    .where('created_at', '>=', createdFrom)
    .where('created_at', '<=', createdTo)
    .select([day.as('day'), 'agent_name', 'model'])
    .select(({ fn }) => [
      fn.countAll<number | string>().as('count'),
      fn.count<number | string>('cost').as('priced'),
      // Not as integers, whose sum could exceed the range of the database or of a reader.
      sumOf('cost').as('cost'),
      sumOf('tokens').as('tokens'),
    ])
    .groupBy([sql`1`, 'agent_name', 'model'])
    .orderBy(sql`1`, 'desc')
    .orderBy('agent_name')
    .orderBy('model')
    .limit(limit);
}

/** A row of {@link sumSummaries}. PostgreSQL returns sums as text. */
export function toSum(row: SumRow): SummarySum {
  const count = Number(row.count);
  return {
    day: Number(row.day),
    agentName: row.agent_name,
    model: row.model,
    count,
    unpriced: count - Number(row.priced),
    costNanoUsd: toSafe(row.cost),
    tokens: toSafe(row.tokens),
  };
}

interface SumRow {
  readonly day: number | string;
  readonly agent_name: string;
  readonly model: string;
  readonly count: number | string;
  readonly priced: number | string;
  readonly cost: number | string | null;
  readonly tokens: number | string | null;
}

function sumOf(column: 'cost' | 'tokens'): RawBuilder<number | string | null> {
  return sql`sum(cast(${sql.ref(column)} as double precision))`;
}

function toSafe(sum: number | string | null): number {
  return Math.min(Math.round(Number(sum ?? 0)), Number.MAX_SAFE_INTEGER);
}

/** The number of sessions of a workspace without a summary: the difference of two counts, which indexes answer. */
export function countMissing(build: Build, workspaceId: string) {
  const sessions = build.selectFrom('sessions').where('workspace_id', '=', workspaceId);
  const summaries = build.selectFrom('summaries').where('workspace_id', '=', workspaceId);
  const all = sessions.select(({ fn }) => fn.countAll<number>().as('n'));
  const listed = summaries.select(({ fn }) => fn.countAll<number>().as('n'));
  return build.selectNoFrom(sql<number | string>`(${all}) - (${listed})`.as('count'));
}

export function findSummaries(build: Build, workspaceId: string, sessionIds: readonly string[]) {
  const mine = build.selectFrom('summaries').where('workspace_id', '=', workspaceId);
  return mine.where('session_id', 'in', sessionIds).select([...COLUMNS]);
}

/** Sessions that are being created or deleted have an id that no request can name. */
export function findMissingSummaries(build: Build, limit: number) {
  return build
    .selectFrom('sessions as s')
    .leftJoin('summaries as y', 'y.session_key', 's.key')
    .where('y.session_key', 'is', null)
    .where('s.workspace_id', 'not in', ['', ' '])
    .select('s.id')
    .limit(limit);
}

/** The page and its counts, from the rows of the queries. */
export function toSummaryList(
  request: SummaryListRequest,
  rows: readonly (Row & { readonly value: string | number })[],
  groups: readonly { state: string; agent_name: string; model: string; count: number | string }[],
  missing: { readonly count: number | string } | undefined,
): SummaryList {
  const page = rows.slice(0, request.limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return {
    items: page.map(toSummary),
    next: hasMore ? writeSummaryCursor(request, { value: last.value, id: last.session_id }) : null,
    groups: groups.map(
      // The cast: the query computes it from the states.
      ({ state, agent_name: agentName, model, count }) =>
        ({ state, agentName, model, count: Number(count) }) as SummaryGroup,
    ),
    missing: Math.max(0, Number(missing?.count ?? 0)),
  };
}

export function toSummary(row: Row): SummaryRecord {
  return {
    sessionId: row.session_id,
    state: row.state,
    stallsAt: row.stalls_at,
    agentName: row.agent_name,
    model: row.model,
    createdAt: row.created_at,
    activityAt: row.activity_at,
    costNanoUsd: row.cost,
    tokens: row.tokens,
    activeMs: row.active_ms,
    // Only stores write it.
    data: (typeof row.data === 'string' ? JSON.parse(row.data) : row.data) as JsonObject,
  };
}

/** The values of a summary in the order of {@link SUMMARY_COLUMNS}, `data` as text. */
export function toSummaryValues(summary: SessionSummary, data: string): unknown[] {
  const { state, stallsAt, agentName, model, createdAt, activityAt, costNanoUsd, tokens, activeMs, search } = summary;
  return [state, stallsAt, agentName, model, createdAt, activityAt, costNanoUsd, tokens, activeMs, search, data];
}

/** The columns behind those that name the session, with the types of PostgreSQL. */
export const SUMMARY_COLUMNS =
  'state text, stalls_at int8, agent_name text, model text, created_at int8, activity_at int8, cost int8, tokens int8, active_ms int8, search text, data json';

/** The names of these columns. */
export const SUMMARY_NAMES = SUMMARY_COLUMNS.split(', ').map((column) => column.split(' ')[0]!);

/** The columns that a later summary replaces: the time of creation stays, also that of a fork, whose log is older. */
export const SUMMARY_REPLACED = SUMMARY_NAMES.filter((name) => name !== 'created_at')
  .map((name) => `${name} = excluded.${name}`)
  .join(', ');

const COLUMNS = [
  'session_id',
  'state',
  'stalls_at',
  'agent_name',
  'model',
  'created_at',
  'activity_at',
  'cost',
  'tokens',
  'active_ms',
  'data',
] as const;

function summariesOf(build: Build, findText: FindText, request: SummaryListRequest) {
  const { workspaceId, words = [], wordsOrIdPrefix, idPrefix, activeFrom, createdFrom, createdTo } = request;
  const { costNanoUsdMin, budgetState } = request;
  let query = build.selectFrom('summaries').where('workspace_id', '=', workspaceId);
  if (idPrefix !== undefined) query = query.where(beginsWith(idPrefix));
  if (activeFrom !== undefined) query = query.where('activity_at', '>=', activeFrom);
  if (createdFrom !== undefined) query = query.where('created_at', '>=', createdFrom);
  if (createdTo !== undefined) query = query.where('created_at', '<=', createdTo);
  if (costNanoUsdMin !== undefined) query = query.where('cost', '>=', costNanoUsdMin);
  if (budgetState !== undefined) query = query.where(sql<SqlBool>`data ->> 'budget_state' = ${budgetState}`);
  if (words.length === 0) return query;
  const hasWords = sql.join(
    words.map((word) => sql`${sql.raw(findText)}(search, ${word}) > 0`),
    sql` AND `,
  );
  const found = wordsOrIdPrefix === undefined ? hasWords : sql`(${hasWords}) OR (${beginsWith(wordsOrIdPrefix)})`;
  return query.where(sql<SqlBool>`(${found})`);
}

/** Ids have ASCII characters only, so a range is the same as a comparison of the beginning, and an index answers it. */
function beginsWith(prefix: string): Expression<SqlBool> {
  return sql<SqlBool>`(session_id >= ${prefix} AND session_id < ${`${prefix}~`})`;
}

/** As `sessionStateAt` has it. */
function stateAt(now: number): RawBuilder<string> {
  return sql<string>`CASE WHEN state = 'running' AND stalls_at <= ${now} THEN 'stalled' ELSE state END`;
}

function valueOf({ sort, now }: SummaryListRequest): RawBuilder<string | number> {
  switch (sort) {
    case 'activity':
      return sql<number>`activity_at`;
    case 'created':
      return sql<number>`created_at`;
    case 'cost':
      return sql<number>`coalesce(cost, -1)`;
    case 'tokens':
      return sql<number>`tokens`;
    case 'duration':
      return sql<number>`active_ms`;
    case 'name':
      return sql<string>`search`;
    case 'agent':
      return sql<string>`agent_name`;
    case 'state':
      return sql<number>`(${rankAt(now)} * ${sql.lit(STATE_RANK_STEP)} - activity_at)`;
  }
}

function rankAt(now: number): RawBuilder<number> {
  const ranks = Object.entries(sessionStates).map(
    ([state, { rank }]) => sql`WHEN ${sql.lit(state)} THEN ${sql.lit(rank)}`,
  );
  return sql<number>`(CASE ${stateAt(now)} ${sql.join(ranks, sql` `)} END)`;
}
