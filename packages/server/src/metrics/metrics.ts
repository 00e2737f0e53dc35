import type { Clock } from '../base/clock.ts';
import type { FailureReason } from '../engines/model/engine.ts';
import type { EgressEntry } from '../frames/egress-entry.ts';
import type { SessionLog } from '../log/log.ts';
import type { RequestLog } from '../base/request-log.ts';
import { metricCatalog, type MetricName } from './catalog.ts';
import { type MeasuredLog, measureLog } from './measure-log.ts';
import { createRegistry } from './registry.ts';
import { type WatchedParts, watchParts } from './watch-parts.ts';
import { watchProcess } from './watch-process.ts';

/** The metrics of this process. */
export interface Metrics {
  /** Wraps a request log to count its entries. */
  readonly measureRequests: (log: RequestLog) => RequestLog;
  readonly measureLog: (log: SessionLog) => MeasuredLog;
  /** Counts a model request that has ended: `ok`, or why it failed. */
  readonly countModelRequest: (outcome: 'ok' | FailureReason) => void;
  /** Counts a connection of a command to another host. */
  readonly countEgress: (entry: EgressEntry) => void;
  /** Registers the metrics of the parts of a server, which are read from now on. */
  readonly watch: (parts: WatchedParts) => void;
  readonly toText: () => string;
}

/**
 * @example
 * const metrics = createMetrics(systemClock);
 * const log = metrics.measureLog(createLog({ store }));
 * console.log(metrics.toText());
 */
export function createMetrics(clock: Clock): Metrics {
  const registry = createRegistry<MetricName>(metricCatalog);
  const requests = registry.counter('fleetloom_http_requests_total');
  const errors = registry.counter(
    'fleetloom_http_errors_total',
    ERROR_STATUSES.map((status) => ({ status })),
  );
  const modelRequests = registry.counter('fleetloom_model_requests_total', [{ outcome: 'ok' }]);
  const connections = registry.counter('fleetloom_egress_connections_total', [
    { outcome: 'opened' },
    { outcome: 'refused' },
  ]);
  const bytes = registry.counter('fleetloom_egress_bytes_total', [{ direction: 'sent' }, { direction: 'received' }]);
  const durations = registry.histogram(
    'fleetloom_http_request_duration_seconds',
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30],
  );
  watchProcess(registry);

  return {
    measureRequests: (log) => ({
      ...log,
      onRequest: (entry) => {
        requests({ route: entry.route ?? 'none', status: String(entry.status) });
        if (entry.status >= 500 && entry.route !== '/readyz') errors({ status: String(entry.status) });
        if (!entry.isStream) durations(entry.durationMs / 1_000);
        log.onRequest?.(entry);
      },
    }),
    measureLog: (log) => measureLog(log, registry, clock),
    countModelRequest: (outcome) => modelRequests({ outcome }),
    countEgress: (entry) => {
      if (entry.outcome === 'opened' || entry.outcome === 'refused') connections({ outcome: entry.outcome });
      if (entry.outcome !== 'closed') return;
      bytes({ direction: 'sent' }, entry.bytes_sent);
      bytes({ direction: 'received' }, entry.bytes_received);
    },
    watch: (parts) => watchParts(registry, parts),
    toText: () => registry.toText(),
  };
}

/** Initialised with 0, so that the first error of each status is an increase. */
const ERROR_STATUSES = ['500', '503', '504', '507', '529'];
