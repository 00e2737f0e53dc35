import type { FleetLoad, SessionHealth, ThreadHealth } from '@fleetloom/protocol/fleet';
import type { Store } from '../../store/store.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { fleetLoad, sessionHealth } from '../schemas/health.ts';
import { readSession } from './read-session.ts';

/** The sources of the current state of sessions and endpoints. */
export interface HealthRoutesOptions {
  readonly store: Store;
  /** Asks the node that owns the session. */
  readonly findHealth: (sessionId: string) => Promise<{
    readonly isKnown: boolean;
    readonly owner: { readonly nodeId: string | null } | null;
    readonly threads: readonly ThreadHealth[];
  }>;
  readonly node: { readonly id: string | null; readonly count: () => number };
  /** The limiter of model requests, if an endpoint is configured. */
  readonly endpoint:
    | (() => {
        readonly active: number;
        readonly waiting: number;
        readonly limit: number;
        readonly pausedMs: number;
      })
    | undefined;
}

/** `/v1/sessions/{session_id}/health` and `/v1/fleet/load`: current state that no log contains. */
export function createHealthRoutes(options: HealthRoutesOptions): readonly AnyRoute[] {
  const { store, findHealth, node, endpoint } = options;
  return [
    defineRoute({
      name: 'sessions.health',
      summary:
        'Read what the threads of a session wait for: whether the process is alive, and when it last sent a byte',
      method: 'get',
      path: '/v1/sessions/{session_id}/health',
      accepts: ['api'],
      gives: sessionHealth,
      handle: async ({ credential, params }): Promise<SessionHealth> => {
        const { id } = await readSession(store, credential, params.session_id);
        const { isKnown, owner, threads } = await findHealth(id);
        return {
          type: 'session_health',
          session_id: id,
          is_known: isKnown,
          owner: owner === null ? null : { node_id: owner.nodeId },
          threads,
        };
      },
    }),
    defineRoute({
      name: 'fleet.load',
      summary: 'Read how many model requests are under way, how many may be, and how many wait',
      method: 'get',
      path: '/v1/fleet/load',
      accepts: ['api'],
      gives: fleetLoad,
      handle: async (): Promise<FleetLoad> => ({
        type: 'fleet_load',
        node_id: node.id,
        nodes: node.count(),
        endpoint: toEndpoint(endpoint?.()),
      }),
    }),
  ];
}

function toEndpoint(counters: ReturnType<NonNullable<HealthRoutesOptions['endpoint']>> | undefined) {
  if (counters === undefined) return null;
  const { active, waiting, limit: max, pausedMs } = counters;
  return { active, waiting, max, paused_ms: Math.ceil(pausedMs) };
}
