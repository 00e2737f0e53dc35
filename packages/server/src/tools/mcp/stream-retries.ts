import type { Clock } from '../../base/clock.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { ToolLimits } from '../tool-limits.ts';

export interface StreamRetriesOptions {
  readonly limits: ToolLimits;
  readonly clock: Pick<Clock, 'steady'>;
  /** Whether the stream to reopen is a response, and not the stream of notifications. */
  readonly isInExchange: () => boolean;
  readonly schedule?: Schedule | undefined;
}

/** Reopens broken streams of an MCP server, at a limited rate. */
export interface StreamRetries {
  /** Reopens a stream after a delay. Returns the function that cancels it. */
  schedule(reconnect: () => void, askedMs: number): Cancel;
  close(): void;
}

/** Creates the schedule by which the library reopens streams. The delay that a server requests, possibly none, is limited. */
export function createStreamRetries(options: StreamRetriesOptions): StreamRetries {
  const { limits, clock, isInExchange, schedule = systemSchedule } = options;
  const waiting = new Set<Cancel>();
  let attempts = 0;
  let lastMs = Number.NEGATIVE_INFINITY;

  return {
    schedule: (reconnect, askedMs) => {
      const delayMs = isInExchange() ? toResumeDelay(askedMs) : nextDelay();
      const cancel = schedule(() => {
        waiting.delete(cancel);
        reconnect();
      }, delayMs);
      waiting.add(cancel);
      return () => {
        waiting.delete(cancel);
        cancel();
      };
    },
    close: () => {
      for (const cancel of waiting) cancel();
      waiting.clear();
    },
  };

  /** The delay before a response is resumed. A call waits only a few seconds for the rest of its response, so attempts are few. */
  function toResumeDelay(askedMs: number): number {
    return Math.min(Math.max(askedMs, RESUME_MS), limits.mcpStreamRetryMs);
  }

  /** The next delay, which doubles unless the stream has lasted longer than the longest delay. */
  function nextDelay(): number {
    const { mcpStreamRetryMs, mcpStreamRetryMsMax } = limits;
    const now = clock.steady();
    const before = Math.min(mcpStreamRetryMs * 2 ** Math.max(0, attempts - 1), mcpStreamRetryMsMax);
    if (now - lastMs > before + mcpStreamRetryMsMax) attempts = 0;
    lastMs = now;
    return Math.min(mcpStreamRetryMs * 2 ** attempts++, mcpStreamRetryMsMax);
  }
}

const RESUME_MS = 250;
