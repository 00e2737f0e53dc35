import type { Clock } from '../base/clock.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { NewFrame } from '../store/frame.ts';
import type { SessionLog } from '../log/log.ts';
import type { Write } from '../store/write.ts';
import type { MetricName } from './catalog.ts';
import type { Registry } from './registry.ts';

/** A log that measures how long its writes wait. */
export type MeasuredLog = SessionLog & {
  /** How long the oldest write that is not durable has waited. */
  readonly oldestWriteMs: () => number;
};

/** Wraps a log to measure commits and to count committed frames, tool calls and retries. */
export function measureLog(log: SessionLog, registry: Registry<MetricName>, clock: Clock): MeasuredLog {
  const frames = registry.counter('fleetloom_frames_appended_total', [{}]);
  const latency = registry.histogram(
    'fleetloom_commit_latency_seconds',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  );
  const failures = registry.counter('fleetloom_commit_failures_total', [{}]);
  const calls = registry.counter('fleetloom_tool_calls_total');
  const retries = registry.counter(
    'fleetloom_model_retries_total',
    [...REASONS].map((reason) => ({ reason })),
  );
  /** The writes in progress, in the order of their start. */
  const writes = new Set<{ readonly startedAt: number }>();
  registry.read('fleetloom_commit_queue_writes', () => writes.size);
  registry.read('fleetloom_commit_oldest_wait_seconds', () => oldestWriteMs() / 1_000);

  return {
    ...log,
    oldestWriteMs,
    append: async (write) => {
      const startedAt = clock.steady();
      const pending = { startedAt };
      writes.add(pending);
      try {
        const appended = await log.append(write);
        latency((clock.steady() - startedAt) / 1_000);
        note(write);
        return appended;
      } catch (error) {
        if (isStoreError(error, 'store_failed') || isStoreError(error, 'write_skipped')) failures();
        throw error;
      } finally {
        writes.delete(pending);
      }
    },
  };

  function oldestWriteMs(): number {
    const [oldest] = writes;
    return oldest === undefined ? 0 : clock.steady() - oldest.startedAt;
  }

  function note(write: Write<NewFrame>): void {
    if (!('frames' in write)) return;
    frames({}, write.frames.length);
    for (const { type, payload } of write.frames) {
      if (type in KINDS) calls({ kind: KINDS[type] ?? toKind(payload) });
      else if (type === 'session.error' && isRepeated(payload)) retries({ reason: toReason(payload) });
    }
  }
}

/** The `kind` label of each type of tool call. Null: taken from the payload. */
const KINDS: Readonly<Record<string, string | null>> = {
  'agent.tool_use': null,
  'agent.mcp_tool_use': 'mcp',
  'agent.custom_tool_use': 'custom',
};

function toKind(payload: object): string {
  return 'kind' in payload && typeof payload.kind === 'string' ? payload.kind : 'unknown';
}

/** The part of an error frame that is counted. */
interface ErrorPayload {
  readonly error?: { readonly type?: string; readonly reason?: string };
  readonly retry?: string;
  readonly retry_at?: number | null;
  readonly program_retry?: object;
}

/** Whether an error is followed by another attempt. Errors of tools that could not be offered have no next attempt. */
function isRepeated(payload: ErrorPayload): boolean {
  return payload.retry === 'retrying' && (typeof payload.retry_at === 'number' || payload.program_retry !== undefined);
}

/** The `reason` label of an error. Unknown reasons are counted as `other`, because programs may report any number of reasons. */
function toReason({ error = {} }: ErrorPayload): string {
  const { reason = '' } = error;
  return REASONS.has(reason) ? reason : 'other';
}

const REASONS: ReadonlySet<string> = new Set([
  'overloaded',
  'rate_limited',
  'request_failed',
  'connection_lost',
  'unknown',
  'restarted',
  'other',
]);
