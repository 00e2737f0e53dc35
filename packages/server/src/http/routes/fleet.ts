import type { FleetCosts, FleetSessionList } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import type { Store } from '../../store/store.ts';
import { listFleetCosts } from '../../views/sessions/list-fleet-costs.ts';
import { listFleetSessions } from '../../views/sessions/list-fleet-sessions.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { fleetQuery } from '../schemas/fleet.ts';
import { fleetCosts, fleetCostsQuery, fleetSessions, fleetSessionsQuery } from '../schemas/fleet-sessions.ts';
import type { FleetFeeds } from '../feeds/fleet-feeds.ts';
import { readSession } from './read-session.ts';

/** The sources of the fleet routes. */
export interface FleetRoutesOptions {
  readonly store: Store;
  readonly feeds: FleetFeeds;
  readonly clock: Clock;
}

/**
 * `/v1/sessions/{session_id}/fleet` and `/v1/fleet`: all threads of one session, or of all sessions, on one connection.
 * `/v1/fleet/sessions`: all sessions, filtered, sorted and counted by the server. `/v1/fleet/costs`: the costs of all sessions.
 */
export function createFleetRoutes({ store, feeds, clock }: FleetRoutesOptions): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'sessions.fleet',
      summary: 'Watch all threads of a session on one stream, which can be resumed exactly',
      method: 'get',
      path: '/v1/sessions/{session_id}/fleet',
      accepts: ['api', 'session'],
      query: fleetQuery,
      gives: 'stream',
      handle: async ({ credential, params, query, headers, openStream }) => {
        const { id: sessionId } = await readSession(store, credential, params.session_id);
        return feeds.open({ sessionId, query, headers, openStream });
      },
    }),
    defineRoute({
      name: 'fleet',
      summary: 'Watch all sessions on one stream: open runs, and those that begin',
      method: 'get',
      path: '/v1/fleet',
      accepts: ['api'],
      query: fleetQuery,
      gives: 'stream',
      handle: async ({ credential: { workspaceId }, query, headers, openStream }) =>
        feeds.openAll({ workspaceId, query, headers, openStream }),
    }),
    defineRoute({
      name: 'fleet.sessions',
      summary: 'List all sessions in one row each, with search, filters, counts per state, agent and model, and pages',
      method: 'get',
      path: '/v1/fleet/sessions',
      accepts: ['api'],
      query: fleetSessionsQuery,
      gives: fleetSessions,
      handle: async ({ credential: { workspaceId }, query }): Promise<FleetSessionList> =>
        await listFleetSessions(store, { workspaceId, query, now: clock.now() }),
    }),
    defineRoute({
      name: 'fleet.costs',
      summary: 'Sum up what all sessions of a period cost, by day, agent and model, with their budgets',
      method: 'get',
      path: '/v1/fleet/costs',
      accepts: ['api'],
      query: fleetCostsQuery,
      gives: fleetCosts,
      handle: async ({ credential: { workspaceId }, query }): Promise<FleetCosts> =>
        await listFleetCosts(store, { workspaceId, query, now: clock.now() }),
    }),
  ];
}
