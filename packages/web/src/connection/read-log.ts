import { watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import { timedFetch } from './clock.ts';

/** What a session's log says up to now, in pieces. A request that ends, not a connection that stays. */
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
  let piece: FleetEvent[] = [];
  for await (const event of watch) {
    if (piece.push(event) < PIECE_EVENTS) continue;
    yield piece;
    piece = [];
    // Drawing and keys come in between.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  if (piece.length > 0) yield piece;
}

const PIECE_EVENTS = 1_000;
