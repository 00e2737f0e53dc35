import { OpenAPIHono } from '@hono/zod-openapi';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { sendAnswer } from './answer.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import { mountDashboard } from './dashboard/mount-dashboard.ts';
import { type Exchange, pathOf } from './exchange.ts';
import { mountRoute, type RouteServices } from './mount-route.ts';
import { type Mount, mountOther } from './mount-other.ts';
import { registerRoute, toOpenApi } from './openapi.ts';
import type { AnyRoute } from './route.ts';
import { unknownPath } from './unknown-path.ts';

/** Hono finds the route; answers are written to Node's response, which is in the exchange. */
export type App = OpenAPIHono<{ Bindings: { readonly exchange: Exchange } }>;

export interface AppOptions extends RouteServices {
  readonly routes: readonly AnyRoute[];
  /** Whole other APIs below a path, which answer by themselves. */
  readonly mounts: readonly Mount[];
  /** The pages for people. */
  readonly dashboard?: Dashboard | undefined;
  /** Whether the server can do what it is for; if not, it may say why. */
  readonly isReady: () => Readiness | Promise<Readiness>;
}

export type Readiness = boolean | { readonly reason: string };

export function createApp(options: AppOptions): App {
  const { routes, isReady, onMishap } = options;
  const app: App = new OpenAPIHono();
  for (const route of routes) {
    mountRoute(app, route, options);
    registerRoute(app, route);
  }
  for (const mount of options.mounts) mountOther(app, mount, options);
  if (options.dashboard !== undefined) mountDashboard(app, options.dashboard, options);
  // Without a key: whoever starts or balances servers has none, and they tell nothing.
  let openApi: Buffer | undefined;
  app.get('/openapi.json', ({ env: { exchange } }) => {
    exchange.route = '/openapi.json';
    // Encoded once: it is large, and needs no key.
    openApi ??= Buffer.from(JSON.stringify(toOpenApi(app)));
    exchange.outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': openApi.length });
    exchange.outgoing.end(openApi);
    return RESPONSE_ALREADY_SENT;
  });
  mountPublic(app, '/healthz', async () => ({ status: 200, body: { status: 'ok' } }));
  mountPublic(app, '/readyz', async () => {
    const readiness = await isReady();
    if (readiness === true) return { status: 200, body: { status: 'ready' } };
    const why = readiness === false ? {} : { reason: readiness.reason };
    return { status: 503, headers: { 'retry-after': '1' }, body: { status: 'not_ready', ...why } };
  });
  app.notFound(({ env: { exchange } }) => {
    const { incoming } = exchange;
    exchange.refuse(unknownPath(incoming.method, pathOf(incoming)), onMishap);
    return RESPONSE_ALREADY_SENT;
  });
  app.onError((error, { env: { exchange } }) => {
    exchange.refuse(error, onMishap);
    return RESPONSE_ALREADY_SENT;
  });
  return app;

  function mountPublic(to: App, path: string, answer: () => Promise<Parameters<typeof sendAnswer>[1]>): void {
    to.get(path, async ({ env: { exchange } }) => {
      exchange.route = path;
      sendAnswer(exchange.outgoing, await answer());
      return RESPONSE_ALREADY_SENT;
    });
  }
}
