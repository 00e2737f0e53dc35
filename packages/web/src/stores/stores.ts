import { listFleetSessions, ResponseError } from '@fleetloom/client';
import type { FleetSessionList, FleetSessionQuery } from '@fleetloom/protocol/fleet';
import { signIn } from './connection/api.ts';
import { timedFetch } from './connection/clock.ts';
import { FleetStore } from './fleet-store.ts';
import { SessionCounts } from './session-counts.ts';
import { SessionList } from './session-list.ts';
import { UiStore } from './ui-store.ts';

/** The state of the fleet, shared by all pages. */
export const fleet = new FleetStore();
/** Selection, route and settings of this tab. */
export const ui = new UiStore();
/** The list of sessions that the Sessions page shows. */
export const sessionList = new SessionList({
  list: readSessions,
  later: (run, ms) => void setTimeout(run, ms),
  now: () => performance.now(),
});
/** Sessions by state, for every page. */
export const sessionCounts = new SessionCounts(readSessions);

/** A page of all sessions of the workspace, from the server. */
export async function readSessions(query: FleetSessionQuery, signal?: AbortSignal): Promise<FleetSessionList> {
  try {
    return await listFleetSessions(new URL('.', location.href).href, query, { signal, fetch: timedFetch });
  } catch (error) {
    if (error instanceof ResponseError && error.status === 401) signIn();
    throw error;
  }
}
