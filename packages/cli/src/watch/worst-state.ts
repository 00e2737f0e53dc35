import { exitCode } from '../exit-code.ts';
import type { WatchModel } from './watch-model.ts';

/** The worst that can be said of a session now: something failed, somebody has to answer, something is stalled. */
export function worstState(model: WatchModel, nowMs: number): number {
  const threads = model.threads();
  const newest = model.seen.slots.runs.at(-1)?.state;
  const isFailed = threads.some(({ slot }) => slot.state === 'failed' && slot.stopReason !== 'cancelled');
  if (isFailed || newest === 'failed' || newest === 'lost') return exitCode.failed;
  const asks = model.asks(nowMs, threads);
  if (asks.length > 0) return exitCode.needsYou;
  const isStalled = threads.some((row) => model.stateOf(row, nowMs, asks).word === 'stalled');
  return isStalled ? exitCode.stalled : exitCode.ok;
}
