import type { Clock } from '../../base/clock.ts';
import type { Engine } from '../../engines/engine.ts';
import type { SessionLog } from '../../store/log.ts';
import type { DoorLog } from '../request-log.ts';
import { measureEngine } from './measure-engine.ts';
import { measureLog } from './measure-log.ts';
import { createRegistry } from './registry.ts';

/** What goes on in this process, as numbers. */
export interface Metrics {
  /** The same log, whose entries are counted too. */
  readonly measureDoor: (log: DoorLog) => DoorLog;
  readonly measureLog: (log: SessionLog) => SessionLog;
  readonly measureEngine: (engine: Engine) => Engine;
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
  const durations = registry.histogram(
    'fleetloom_http_request_duration_seconds',
    'How long requests took, streams not counted.',
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
  );

  return {
    measureDoor: (log) => ({
      ...log,
      onRequest: (entry) => {
        requests({ route: entry.route ?? 'none', status: String(entry.status) });
        if (!entry.isStream) durations(entry.durationMs / 1_000);
        log.onRequest?.(entry);
      },
    }),
    measureLog: (log) => measureLog(log, registry, clock),
    measureEngine: (engine) => measureEngine(engine, registry),
    watchStreams: (count) => registry.gauge('fleetloom_open_streams', 'Event streams that are open.', count),
    toText: () => registry.toText(),
  };
}
