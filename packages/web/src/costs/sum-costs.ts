import type { FleetCostGroup } from '@fleetloom/protocol/fleet';

/** The sums of some sessions. */
export interface CostSum {
  readonly name: string;
  readonly sessions: number;
  /** Sessions whose cost is not known; `cost` does not contain them. */
  readonly unpriced: number;
  readonly cost: number;
  readonly tokens: number;
}

/** Sums by day, agent or model, the highest cost first. */
export function sumBy(groups: readonly FleetCostGroup[], field: 'day' | 'agent' | 'model'): readonly CostSum[] {
  const sums = new Map<string, CostSum>();
  for (const group of groups) {
    const name = group[field];
    sums.set(name, add(sums.get(name) ?? nothing(name), group));
  }
  return [...sums.values()].toSorted((a, b) => b.cost - a.cost || b.tokens - a.tokens || (a.name < b.name ? -1 : 1));
}

/** The sum of all groups. */
export function sumAll(groups: readonly FleetCostGroup[]): CostSum {
  return groups.reduce(add, nothing('all'));
}

/** Every day of a period, the oldest first, including days without a session. `to` is a local day. */
export function listDays(groups: readonly FleetCostGroup[], to: string, count: number): readonly CostSum[] {
  const known = new Map(sumBy(groups, 'day').map((sum) => [sum.name, sum]));
  const last = Date.parse(to);
  return Array.from({ length: count }, (_, index) => {
    const day = new Date(last - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10);
    return known.get(day) ?? nothing(day);
  });
}

const DAY_MS = 86_400_000;

function nothing(name: string): CostSum {
  return { name, sessions: 0, unpriced: 0, cost: 0, tokens: 0 };
}

function add(sum: CostSum, group: FleetCostGroup): CostSum {
  return {
    name: sum.name,
    sessions: sum.sessions + group.sessions_count,
    unpriced: sum.unpriced + group.unpriced_count,
    cost: sum.cost + group.cost_usd,
    tokens: sum.tokens + group.tokens,
  };
}
