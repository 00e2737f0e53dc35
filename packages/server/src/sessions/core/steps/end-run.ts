import { isOverBudget } from '../state/budget.ts';
import type { Draft } from '../draft.ts';

/** Ends the run when every thread is idle. */
export function endRun(draft: Draft): void {
  const { run } = draft.state;
  if (run === null) return;
  const { end, error, content } = run.outcome ?? { end: 'cancelled' as const, error: null, content: '' };
  const ended = { ok: end === 'end_turn', stop_reason: end, error, content };
  const isCutShort = (end === 'limit' || end === 'cancelled') && isEndedByBudget(draft);
  const budget = { stop_reason: 'limit' as const, error: 'the budget is used up', code: 'budget_reached' };
  const turn = { streamId: 0, depth: 0, run: run.id };
  draft.addInTurn(null, turn, 'run.ended', isCutShort ? { ...ended, ...budget } : ended);
}

function isEndedByBudget({ state, now }: Draft): boolean {
  return state.created.ends_at_budget === true && isOverBudget(state, now);
}
