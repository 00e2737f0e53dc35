import { type FleetWatch, type WatchFleetOptions, watchFleet } from '@fleetloom/client';
import type { FleetEvent } from '@fleetloom/protocol/fleet';
import type { Connection } from './connection.ts';
import { toWatchError } from './server-errors.ts';

/** Options of the fleet stream, without the options of the connection. */
export type FleetOptions = Omit<WatchFleetOptions, 'url' | 'key' | 'headers' | 'fetch'>;

/** The fleet events of a session, each once and in order, across reconnects (SPEC F). */
export async function* openFleet(
  connection: Connection,
  options: FleetOptions,
): AsyncGenerator<FleetEvent, void, undefined> {
  const { url, key } = connection;
  const watch: FleetWatch = watchFleet({ url, ...(key === undefined ? {} : { key }), ...options });
  try {
    yield* watch;
  } catch (error) {
    throw toWatchError(connection, error);
  } finally {
    await watch.return();
  }
}
