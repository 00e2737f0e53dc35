import type { Clock } from '../../base/clock.ts';
import { type Cancel, type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { ToolLimits } from '../tool-limits.ts';

export interface StreamRetriesOptions {
  readonly limits: ToolLimits;
  readonly clock: Pick<Clock, 'steady'>;
  /** Whether an answer is resumed, and not the stream of notifications. */
  readonly isInExchange: () => boolean;
  readonly schedule?: Schedule | undefined;
}

/** Reopens broken streams of an MCP server, at a limited rate. */
export interface StreamRetries {
  /** Opens a stream again after a while. Gives what takes that back. */
  schedule(reconnect: () => void, askedMs: number): Cancel;
  close(): void;
}

/** When the library opens a stream again that has ended. A server may ask for any wait, none included: it does not decide. */
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

  /** A call waits for the rest of its answer for a few seconds at most, so attempts are few. */
  function toResumeDelay(askedMs: number): number {
    return Math.min(Math.max(askedMs, RESUME_MS), limits.mcpStreamRetryMs);
  }

  /** Doubles, unless the stream has lasted longer than the longest wait. */
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
