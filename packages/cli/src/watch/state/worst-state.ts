import { exitCode } from '../../base/exit-code.ts';
import type { WatchModel } from './watch-model.ts';

/** The exit code for the worst state of a session: failed, needs a person, or stalled. */
export function worstState(model: WatchModel, nowMs: number): number {
  const threads = model.threads();
  const newest = model.seen.slots.runs.at(-1)?.state;
  const isFailed = threads.some(({ slot }) => slot.state === 'failed' && slot.stopReason !== 'cancelled');
  if (isFailed || newest === 'failed' || newest === 'lost') return exitCode.failed;
  const pendingCalls = model.pendingCalls(nowMs, threads);
  if (pendingCalls.length > 0) return exitCode.needsYou;
  const isStalled = threads.some((row) => model.stateOf(row, nowMs, pendingCalls).word === 'stalled');
  return isStalled ? exitCode.stalled : exitCode.ok;
}
