import type { Clock } from '../base/clock.ts';
import type { FailureReason } from '../engines/model/engine.ts';
import type { SessionLog } from '../log/log.ts';
import type { RequestLog } from '../base/request-log.ts';
import { type MeasuredLog, measureLog } from './measure-log.ts';
import { createRegistry } from './registry.ts';

/** What goes on in this process, as numbers. */
export interface Metrics {
  /** The same log, whose entries are counted too. */
  readonly measureRequests: (log: RequestLog) => RequestLog;
  readonly measureLog: (log: SessionLog) => MeasuredLog;
  /** Counts a model request that has ended: `ok`, or why it failed. */
  readonly countModelRequest: (outcome: 'ok' | FailureReason) => void;
  readonly watchStreams: (count: () => number) => void;
  readonly toText: () => string;
}

/**
 * @example
 * const metrics = createMetrics(systemClock);
 * const log = metrics.measureLog(createLog({ store }));
 * console.log(metrics.toText());
 */
export function createMetrics(clock: Clock): Metrics {
  const registry = createRegistry();
  const requests = registry.counter('fleetloom_http_requests_total', 'Requests that are over, by route and status.');
  const modelRequests = registry.counter('fleetloom_model_requests_total', 'Model requests that are over, by outcome.');
  const durations = registry.histogram(
    'fleetloom_http_request_duration_seconds',
    'How long requests took, streams not counted.',
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  );

  return {
    measureRequests: (log) => ({
      ...log,
      onRequest: (entry) => {
        requests({ route: entry.route ?? 'none', status: String(entry.status) });
        if (!entry.isStream) durations(entry.durationMs / 1_000);
        log.onRequest?.(entry);
      },
    }),
    measureLog: (log) => measureLog(log, registry, clock),
    countModelRequest: (outcome) => modelRequests({ outcome }),
    watchStreams: (count) => registry.gauge('fleetloom_open_streams', 'Event streams that are open.', count),
    toText: () => registry.toText(),
  };
}
