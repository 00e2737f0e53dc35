import type { FleetBudget, FleetCostGroup, FleetCosts, FleetCostsQuery } from '@fleetloom/protocol/fleet';
import { FleetloomError } from '../../base/errors.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { BudgetState, SummaryData } from '../../frames/summary-data.ts';
import type { Store } from '../../store/store.ts';
import {
  DAY_MS,
  type SummaryList,
  type SummaryListRequest,
  type SummaryRecord,
  type SummarySum,
} from '../../store/summaries.ts';
import { viewLimits } from '../limits.ts';
import { toFleetSession } from './to-fleet-session.ts';

/** What all sessions of a workspace cost that were created in a period. */
export async function listFleetCosts(
  store: Pick<Store, 'summaries'>,
  { workspaceId, query, now }: { readonly workspaceId: string; readonly query: FleetCostsQuery; readonly now: number },
): Promise<FleetCosts> {
  const createdTo = query.to === undefined ? now : Date.parse(query.to);
  const createdFrom = query.from === undefined ? createdTo - viewLimits.costsPeriodMs : Date.parse(query.from);
  checkPeriod(createdFrom, createdTo);
  const offsetMs = (query.utc_offset_minutes ?? 0) * 60_000;
  const request = { workspaceId, createdFrom, createdTo, now, includesArchived: true, order: 'desc' } as const;
  const list = async (more: Pick<SummaryListRequest, 'sort' | 'budgetState'>) => {
    await yieldToEventLoop(0);
    return await store.summaries.list({ ...request, ...more, limit: viewLimits.costSessionsMax });
  };
  // One after the other, each in a turn of the event loop of its own: together they would hold it for too long.
  await yieldToEventLoop(0);
  const period = { workspaceId, createdFrom, createdTo, offsetMs };
  const sums = await store.summaries.sum({ ...period, limit: viewLimits.costGroupsMax + 1 });
  const dearest = await list({ sort: 'cost' });
  const reached = await list({ sort: 'activity', budgetState: 'reached' satisfies BudgetState });
  const within = await list({ sort: 'activity', budgetState: 'within' satisfies BudgetState });
  if (sums.length > viewLimits.costGroupsMax) throw tooMany();
  return {
    type: 'fleet_costs',
    from: new Date(createdFrom).toISOString(),
    to: new Date(createdTo).toISOString(),
    groups: sums.map(toGroup),
    sessions: dearest.items
      .filter(({ costNanoUsd }) => (costNanoUsd ?? 0) > 0)
      .map((each) => toFleetSession(each, now)),
    budgets: [...reached.items, ...within.items].map((each) => toBudget(each, now)),
    budget_counts: { reached: count(reached), within: count(within) },
    unlisted_count: dearest.missing,
  };
}

function checkPeriod(from: number, to: number): void {
  if (from <= to && to - from <= viewLimits.costsPeriodMsMax) return;
  throw new FleetloomError({
    code: 'invalid_period',
    kind: 'caller',
    problem: `the period from ${new Date(from).toISOString()} to ${new Date(to).toISOString()} is not valid`,
    advice: 'choose a period of at most 366 days that ends after its beginning',
  });
}

function tooMany(): FleetloomError {
  return new FleetloomError({
    code: 'too_many_groups',
    kind: 'caller',
    problem: `the period has more than ${viewLimits.costGroupsMax} combinations of day, agent and model`,
    advice: 'choose a shorter period',
  });
}

function toGroup({
  day,
  agentName,
  model,
  count: sessions,
  unpriced,
  costNanoUsd,
  tokens,
}: SummarySum): FleetCostGroup {
  return {
    day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    agent: agentName,
    model,
    sessions_count: sessions,
    unpriced_count: unpriced,
    cost_usd: costNanoUsd / 1e9,
    tokens,
  };
}

function toBudget(summary: SummaryRecord, now: number): FleetBudget {
  // Only sessions write it, and only those with a budget are listed.
  const { budget, budget_state: state } = summary.data as unknown as SummaryData;
  const cost = budget?.cost_nano_usd ?? null;
  return {
    session: toFleetSession(summary, now),
    is_reached: state === 'reached',
    max_cost_usd: cost === null ? null : cost / 1e9,
    max_tokens: budget?.tokens ?? null,
    max_requests: budget?.requests ?? null,
    max_active_ms: budget?.wall_ms ?? null,
  };
}

function count({ groups }: SummaryList): number {
  return groups.reduce((total, group) => total + group.count, 0);
}
