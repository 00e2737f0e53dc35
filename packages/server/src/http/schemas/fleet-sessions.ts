import { z } from 'zod';
import { httpLimits } from '../limits.ts';
import { moment } from './common.ts';

const state = z.enum(['needs_you', 'running', 'stalled', 'failed', 'done', 'idle', 'archived']);
const time = z.iso.datetime();
const text = z.string().min(1).max(httpLimits.fleetSessionsTextCharsMax);

/** The query of the list of all sessions. */
export const fleetSessionsQuery = z.strictObject({
  /** Sessions in any of these states. */
  status: z.array(state).exactOptional(),
  /** Sessions with these words in the name, the first message or the agent's name, or with an id that begins with the text. */
  q: z.string().max(httpLimits.fleetSessionsTextCharsMax).exactOptional(),
  /** Sessions whose id begins with this text. */
  id: text.exactOptional(),
  /** Sessions of any of these agents, by name. */
  agent: z.array(text).exactOptional(),
  model: z.array(text).exactOptional(),
  /** Sessions with an event at this time or later. */
  from: moment.exactOptional(),
  /** Sessions that were created at this time or earlier. */
  to: moment.exactOptional(),
  /** Sessions with at least this cost in US dollars. */
  min_cost: z.number().min(0).max(httpLimits.minCostUsdMax).exactOptional(),
  archived: z.boolean().exactOptional(),
  sort: z.enum(['activity', 'created', 'cost', 'tokens', 'duration', 'name', 'agent', 'state']).exactOptional(),
  order: z.enum(['asc', 'desc']).exactOptional(),
  cursor: z.string().min(1).exactOptional(),
  limit: z.int().min(1).max(httpLimits.fleetSessionsPageMax).exactOptional(),
});

const counts = z.strictObject({ files_count: z.int(), lines_added: z.int(), lines_removed: z.int() });

/** A session in one row, in responses. */
export const fleetSession = z
  .strictObject({
    type: z.literal('fleet_session'),
    id: z.string(),
    short_id: z.string(),
    name: z.string(),
    title: z.string().nullable(),
    state,
    reason: z.string().nullable(),
    stalls_at: time.nullable(),
    agent: z.strictObject({ id: z.string(), name: z.string() }),
    model: z.string(),
    repository: z.string().nullable(),
    branch: z.string().nullable(),
    changes: counts.nullable(),
    cost_usd: z.number().nullable(),
    tokens: z.int(),
    created_at: time,
    started_at: time.nullable(),
    ended_at: time.nullable(),
    active_ms: z.int(),
    active_since: time.nullable(),
    last_activity_at: time,
    needs_you_count: z.int(),
    threads_count: z.int(),
    stalled_threads_count: z.int(),
    failed_threads_count: z.int(),
    created_by: z.string().nullable(),
    is_read_only: z.boolean(),
  })
  .meta({ id: 'FleetSession' });

const facet = z.array(z.strictObject({ value: z.string(), count: z.int() }));

/** A page of sessions with the counts of the query, in responses. */
export const fleetSessions = z
  .strictObject({
    type: z.literal('fleet_sessions'),
    data: z.array(fleetSession),
    total: z.int(),
    facets: z.strictObject({ states: z.record(state, z.int()), agents: facet, models: facet }),
    unlisted_count: z.int(),
    next_cursor: z.string().nullable(),
  })
  .meta({ id: 'FleetSessions' });

/** The query of the costs of all sessions. */
export const fleetCostsQuery = z.strictObject({
  from: moment.exactOptional(),
  to: moment.exactOptional(),
  utc_offset_minutes: z.int().min(-840).max(840).exactOptional(),
});

/** The costs of all sessions in a period, in responses. */
export const fleetCosts = z
  .strictObject({
    type: z.literal('fleet_costs'),
    from: time,
    to: time,
    groups: z.array(
      z.strictObject({
        day: z.iso.date(),
        agent: z.string(),
        model: z.string(),
        sessions_count: z.int(),
        unpriced_count: z.int(),
        cost_usd: z.number(),
        tokens: z.int(),
      }),
    ),
    sessions: z.array(fleetSession),
    budgets: z.array(
      z.strictObject({
        session: fleetSession,
        is_reached: z.boolean(),
        max_cost_usd: z.number().nullable(),
        max_tokens: z.number().nullable(),
        max_requests: z.number().nullable(),
        max_active_ms: z.number().nullable(),
      }),
    ),
    budget_counts: z.strictObject({ reached: z.int(), within: z.int() }),
    unlisted_count: z.int(),
  })
  .meta({ id: 'FleetCosts' });
