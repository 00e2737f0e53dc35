import type { SessionState } from './state.ts';
import { sumTokens } from './usage.ts';

/** Whether a bound of the budget is reached. An unknown cost never reaches its bound. */
export function isOverBudget({ budget, usage, requests, active }: SessionState, now: number): boolean {
  if (budget === null) return false;
  const activeMs = active.totalMs + (active.since === null ? 0 : now - active.since);
  return (
    isReached(usage.cost_nano_usd, budget.cost_nano_usd) ||
    isReached(sumTokens(usage), budget.tokens) ||
    isReached(requests, budget.requests) ||
    isReached(activeMs, budget.wall_ms)
  );
}

/** The time left of a run; null if it has no time budget, or pauses when it is reached. */
export function timeLeftMs({ budget, active, created, run }: SessionState, now: number): number | null {
  const bound = budget?.wall_ms ?? null;
  if (run === null || bound === null || created.ends_at_budget !== true) return null;
  return bound - active.totalMs - (active.since === null ? 0 : now - active.since);
}

/** Whether a value reaches its bound. An unknown value or a missing bound is never reached. */
export function isReached(used: number | null, bound: number | null): boolean {
  return used !== null && bound !== null && used >= bound;
}
