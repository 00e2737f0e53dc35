import { baseLimits } from './limits.ts';

/**
 * Work that grows with a log or a list calls this between its steps. It returns undefined while the current turn of the event
 * loop is within its slice. Afterwards it returns a promise that resolves in a later turn, so that sockets and timers run in
 * between. Awaiting an embedded database is not enough: its reads resolve without leaving the current turn.
 *
 * All callers share one queue, and one caller is resumed per turn: a thousand waiting callers hold the loop no longer than one.
 *
 * @example
 * for (const item of items) {
 *   handle(item);
 *   await yieldToEventLoop();
 * }
 */
export function yieldToEventLoop(sliceMs: number = baseLimits.loopSliceMs): Promise<void> | undefined {
  const now = performance.now();
  if (turnStartedAt === undefined) {
    turnStartedAt = now;
    setImmediate(endTurn);
  }
  if (now - turnStartedAt < sliceMs) return undefined;
  return new Promise((resolve) => waiting.push(resolve));
}

/** When the first caller of this turn asked; undefined before. */
let turnStartedAt: number | undefined;
const waiting: (() => void)[] = [];

function endTurn(): void {
  turnStartedAt = undefined;
  const resume = waiting.shift();
  if (resume === undefined) return;
  // The resumed caller runs in the microtasks behind this callback, and belongs to the turn that begins here.
  turnStartedAt = performance.now();
  setImmediate(endTurn);
  resume();
}
