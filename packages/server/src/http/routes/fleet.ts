import type { Store } from '../../store/store.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import { fleetQuery } from '../schemas/fleet.ts';
import type { FleetFeeds } from './fleet-feeds.ts';
import { readSession } from './read-session.ts';

/** `/v1/sessions/{session_id}/fleet` and `/v1/fleet`: every thread of a session, or of all, on one connection. */
export function createFleetRoutes({ store, feeds }: { store: Store; feeds: FleetFeeds }): readonly AnyRoute[] {
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
      summary: 'Watch all sessions on one stream: runs that go on, and those that begin',
      method: 'get',
      path: '/v1/fleet',
      accepts: ['api'],
      query: fleetQuery,
      gives: 'stream',
      handle: async ({ credential: { workspaceId }, query, headers, openStream }) =>
        feeds.openAll({ workspaceId, query, headers, openStream }),
    }),
  ];
}
