import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { timedFetch } from './clock.ts';

/** The fleet events of a session up to now, in batches. The request ends with the last event. */
export async function* readLog(
  sessionId: string,
  signal: AbortSignal,
): AsyncGenerator<readonly FleetEvent[], void, undefined> {
  const url = new URL('.', location.href);
  const watch = watchFleet({
    url,
    session: sessionId,
    follow: false,
    gate: 'live',
    include: ['thinking'],
    signal,
    retriesMax: 3,
    fetch: timedFetch,
  });
  let batch: FleetEvent[] = [];
  for await (const event of watch) {
    if (batch.push(event) < BATCH_EVENTS) continue;
    yield batch;
    batch = [];
    // Lets rendering and key events run in between.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  if (batch.length > 0) yield batch;
}

const BATCH_EVENTS = 1_000;
