import {
  type FacetCount,
  type FleetSessionFacets,
  type FleetSessionList,
  type FleetSessionQuery,
  type FleetSessionSort,
  type FleetSessionState,
  sessionStates,
  toIdPrefix,
} from '@fleetloom/protocol/fleet';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Store } from '../../store/store.ts';
import type { SummaryGroup, SummaryListRequest } from '../../store/summaries.ts';
import { viewLimits } from '../limits.ts';
import { toFleetSession } from './to-fleet-session.ts';

/** A page of all sessions of a workspace, with the counts of everything that matches. */
export async function listFleetSessions(
  store: Pick<Store, 'summaries'>,
  {
    workspaceId,
    query,
    now,
  }: { readonly workspaceId: string; readonly query: FleetSessionQuery; readonly now: number },
): Promise<FleetSessionList> {
  const request = toRequest(workspaceId, query, now);
  // Of many requests at once, one query runs in each turn of the event loop.
  await yieldToEventLoop(0);
  const { items, next, groups, missing } = await store.summaries.list(request);
  return {
    type: 'fleet_sessions',
    data: items.map((summary) => toFleetSession(summary, now)),
    total: sum(groups.filter((each) => isState(each, request) && isAgent(each, request) && isModel(each, request))),
    facets: toFacets(groups, request),
    unlisted_count: missing,
    next_cursor: next,
  };
}

function toRequest(workspaceId: string, query: FleetSessionQuery, now: number): SummaryListRequest {
  const { status, q = '', agent, model, from, to, min_cost: minCost, archived = false, sort = 'activity' } = query;
  const words = q
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const { limit = viewLimits.fleetSessionsPage, order = ASCENDING.has(sort) ? 'asc' : 'desc', cursor, id } = query;
  return {
    workspaceId,
    now,
    states: status,
    agents: agent,
    models: model,
    words: words.slice(0, viewLimits.fleetSessionsWordsMax),
    wordsOrIdPrefix: words.length === 1 ? toIdPrefix(words[0]!) : undefined,
    // What cannot begin an id matches none.
    idPrefix: id === undefined ? undefined : (toIdPrefix(id) ?? `${id} `),
    activeFrom: from === undefined ? undefined : Date.parse(from),
    createdTo: to === undefined ? undefined : Date.parse(to),
    costNanoUsdMin: minCost === undefined ? undefined : Math.round(minCost * 1e9),
    includesArchived: archived,
    sort,
    order,
    limit,
    cursor,
  };
}

/** Texts from A on, and what needs a person first; times and amounts the largest first. */
const ASCENDING: ReadonlySet<FleetSessionSort> = new Set(['name', 'agent', 'state']);

function toFacets(groups: readonly SummaryGroup[], request: SummaryListRequest): FleetSessionFacets {
  const ofStates = groups.filter((each) => isAgent(each, request) && isModel(each, request));
  const ofAgents = groups.filter((each) => isState(each, request) && isModel(each, request));
  const ofModels = groups.filter((each) => isState(each, request) && isAgent(each, request));
  return {
    states: toStateCounts(ofStates),
    agents: count(ofAgents, ({ agentName }) => agentName),
    models: count(ofModels, ({ model }) => model),
  };
}

/** How many sessions have each state. */
export function toStateCounts(groups: readonly SummaryGroup[]): Record<FleetSessionState, number> {
  // The cast: one entry for each state.
  const counts = Object.fromEntries(Object.keys(sessionStates).map((state) => [state, 0])) as Record<
    FleetSessionState,
    number
  >;
  for (const { state, count: more } of groups) counts[state] += more;
  return counts;
}

function count(groups: readonly SummaryGroup[], valueOf: (group: SummaryGroup) => string): FacetCount[] {
  const counts = new Map<string, number>();
  for (const group of groups) counts.set(valueOf(group), (counts.get(valueOf(group)) ?? 0) + group.count);
  const sorted = [...counts].map(([value, found]) => ({ value, count: found }));
  // Equal counts in the order of their names, so that the order does not change between requests.
  sorted.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
  return sorted.slice(0, viewLimits.facetValuesMax);
}

function isState({ state }: SummaryGroup, { states, includesArchived }: SummaryListRequest): boolean {
  return states?.includes(state) ?? (includesArchived || state !== 'archived');
}

function isAgent({ agentName }: SummaryGroup, { agents }: SummaryListRequest): boolean {
  return agents?.includes(agentName) ?? true;
}

function isModel({ model }: SummaryGroup, { models }: SummaryListRequest): boolean {
  return models?.includes(model) ?? true;
}

function sum(groups: readonly SummaryGroup[]): number {
  return groups.reduce((total, { count: more }) => total + more, 0);
}
