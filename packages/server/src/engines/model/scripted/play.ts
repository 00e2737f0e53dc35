import { setTimeout as wait } from 'node:timers/promises';
import { yieldToEventLoop } from '../../../base/yield-to-event-loop.ts';
import { ScriptedModelError } from './failure.ts';
import { limits } from './limits.ts';
import type { Plan } from './plan/plan.ts';
import type { MessagesEvent, PingEvent } from './wire.ts';

/** Waits. Rejects when the signal is aborted, so that a response without a reader does not keep waiting. */
export type Sleep = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

/** Options of playing a plan. */
export interface PlayOptions {
  sleep?: Sleep | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Plays a plan: events that are due at the same time are emitted together. A failure is thrown as a {@link ScriptedModelError}, after
 * all earlier events were emitted; an abort is thrown as its reason.
 */
export async function* play(
  plan: Plan,
  options: PlayOptions = {},
): AsyncGenerator<(MessagesEvent | PingEvent)[], void> {
  const { sleep = sleepForReal, signal } = options;
  let due: (MessagesEvent | PingEvent)[] = [];
  for (const item of plan.items) {
    if ((item.afterMs > 0 || item.type === 'failure' || due.length >= limits.batchEventsMax) && due.length > 0) {
      yield due;
      due = [];
      // The reader of a response without waits may handle all of it without leaving the current turn of the event loop.
      await yieldToEventLoop();
    }
    signal?.throwIfAborted();
    if (item.afterMs > 0) await sleep(item.afterMs, signal);
    if (item.type === 'failure') throw new ScriptedModelError(item.failure);
    due.push(item.event);
  }
  if (due.length > 0) yield due;
}

async function sleepForReal(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    // The timer's own AbortError hides the reason that the caller gave.
    signal?.throwIfAborted();
    throw error;
  }
}
