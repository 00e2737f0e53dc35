import { RequestError } from '../../base/request-error.ts';
import { openApiEndpoint } from '../routing/openapi.ts';
import type { Dashboard } from '../dashboard/dashboard.ts';
import { dashboardEndpoints } from '../dashboard/dashboard-routes.ts';
import { type Answer, sendAnswer } from '../response/answer.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import type { Exchange } from '../routing/exchange.ts';
import { type Mount, mountEndpoints } from '../routing/mount.ts';
import { pathOf, toRoutedPath } from '../routing/request-path.ts';
import type { AnyRoute } from '../routing/route.ts';
import { RouteTable } from '../routing/route-table.ts';
import { type DatabaseWatch, requireDatabase } from './require-database.ts';
import { type RouteServices, routeEndpoint } from '../routing/run-route.ts';
import { unknownPath } from '../routing/unknown-path.ts';

/** The routes and services of a router. */
export interface RouterOptions extends RouteServices {
  readonly routes: readonly AnyRoute[];
  /** Other APIs, each below a path of its own, which write their responses themselves. */
  readonly mounts: readonly Mount[];
  readonly dashboard?: Dashboard | undefined;
  /** Endpoints that do not need a key, but the database. */
  readonly open?: readonly Endpoint[] | undefined;
  /** Whether the server is ready, or the reason why it is not. */
  readonly isReady: () => Readiness | Promise<Readiness>;
  /** Watches the database: requests that need it are rejected while it is unreachable. Undefined for an embedded database. */
  readonly database?: DatabaseWatch | undefined;
}

/** The result of `/readyz`. */
export type Readiness = boolean | { readonly reason: string };

/** Handles one request. Never rejects: an error becomes an error response. */
export type Router = (exchange: Exchange) => Promise<void>;

/** Passes each request to the endpoint of its method and path. */
export function createRouter(options: RouterOptions): Router {
  const { routes, mounts, dashboard, open = [], isReady, database, onError } = options;
  // These endpoints need the database: keys and logins are in it, and the dashboard does not work without them.
  const authenticated: readonly Endpoint[] = [
    ...routes.map((route) => routeEndpoint(route, options)),
    ...mounts.flatMap((mount) => mountEndpoints(mount, options)),
    ...(dashboard === undefined ? [] : dashboardEndpoints(dashboard, options)),
    ...open,
  ];
  const endpoints: readonly Endpoint[] = [
    ...(database === undefined ? authenticated : authenticated.map((endpoint) => requireDatabase(endpoint, database))),
    // These need no key: process managers and load balancers have none, and the responses contain no data.
    openApiEndpoint(routes),
    jsonEndpoint('/healthz', async () => ({ status: 200, body: { status: 'ok' } })),
    jsonEndpoint('/readyz', async () => toReadyAnswer(await isReady())),
  ];
  const table = new RouteTable(
    endpoints.map((endpoint) => ({ method: endpoint.method, path: endpoint.path, handler: endpoint })),
  );

  return async (exchange) => {
    const { incoming } = exchange;
    try {
      const match = table.find(incoming.method ?? '', toRoutedPath(incoming));
      if (match === undefined) throw unknownPath(incoming.method, pathOf(incoming));
      exchange.route = match.handler.name;
      await match.handler.handle(exchange, match.params);
    } catch (error) {
      // An overload is reported once, not with each request that is rejected.
      const isReported = error instanceof RequestError && error.code === 'overloaded';
      exchange.refuse(error, isReported ? () => {} : onError);
    }
  };
}

function jsonEndpoint(path: string, answer: () => Promise<Answer>): Endpoint {
  return {
    method: 'GET',
    path,
    name: path,
    handle: async ({ outgoing }) => sendAnswer(outgoing, await answer()),
  };
}

function toReadyAnswer(readiness: Readiness): Answer {
  if (readiness === true) return { status: 200, body: { status: 'ready' } };
  const why = readiness === false ? {} : { reason: readiness.reason };
  return { status: 503, headers: { 'retry-after': '1' }, body: { status: 'not_ready', ...why } };
}
