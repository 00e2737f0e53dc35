import type { SessionState } from './state.ts';
import { sumTokens } from './usage.ts';

/** Whether something that is bounded is used up. A cost that is not known cannot be bounded, and does not bind. */
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

/** How long until the time of a run is up; null if it has no bound, or pauses when it is reached. */
export function timeLeftMs({ budget, active, created, run }: SessionState, now: number): number | null {
  const bound = budget?.wall_ms ?? null;
  if (run === null || bound === null || created.ends_at_budget !== true) return null;
  return bound - active.totalMs - (active.since === null ? 0 : now - active.since);
}

/** A bound that is not set, or of what is not known, is never reached. */
export function isReached(used: number | null, bound: number | null): boolean {
  return used !== null && bound !== null && used >= bound;
}
