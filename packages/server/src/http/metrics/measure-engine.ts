import type { Engine } from '../../engines/engine.ts';
import type { Registry } from './registry.ts';

/** Counts how model requests end: `ok`, or why they failed. */
export function measureEngine(engine: Engine, registry: Registry): Engine {
  const requests = registry.counter('fleetloom_model_requests_total', 'Model requests that are over, by outcome.');
  return {
    request: async function* (request, signal) {
      for await (const event of engine.request(request, signal)) {
        if (event.type === 'finished') requests({ outcome: 'ok' });
        if (event.type === 'failed') requests({ outcome: event.failure.reason });
        yield event;
      }
    },
    close: () => engine.close(),
  };
}
