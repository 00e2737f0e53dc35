import { type Clock, systemClock } from '../../base/clock.ts';
import { createIds, type Ids } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import { type Schedule, systemSchedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import type { Admission, AdmissionKind } from '../connections/admission.ts';
import { createRouter, type Readiness, type RouterOptions } from './router.ts';
import type { DatabaseWatch } from './require-database.ts';
import type { Access } from '../auth/authenticate.ts';
import { createCredentialWatch } from '../auth/credential-watch.ts';
import { isLoopbackHost, type SiteRules } from '../auth/check-site.ts';
import { createTrustedProxies } from '../connections/client-origin.ts';
import { createConnectionLimits } from '../connections/connection-limits.ts';
import type { Dashboard } from '../dashboard/dashboard.ts';
import { requestError } from '../../base/request-error.ts';
import { createListener } from './listener.ts';
import type { LoadedTls } from './tls.ts';
import type { Mount } from '../routing/mount.ts';
import type { RouteServices } from '../routing/run-route.ts';
import { createPageSeals } from '../paging/page-seals.ts';
import { createRateLimiter, type RateLimit } from '../auth/rate-limit.ts';
import { createReplays } from '../idempotency/replays.ts';
import type { RequestLog } from '../../base/request-log.ts';
import type { Claims } from '../idempotency/shared-claims.ts';
import type { AnyRoute } from '../routing/route.ts';
import { DEFAULT_TIMEOUTS, type Served, serve, type Timeouts } from './listen.ts';
import { createEventStreams, type EventStreamsOptions } from '../streams/sse/event-streams.ts';

/** How the HTTP server listens, authenticates and limits clients. */
export interface HttpServerOptions {
  readonly routes: readonly AnyRoute[];
  /** Other APIs, each below a path of its own. */
  readonly mounts?: readonly Mount[] | undefined;
  /** The web pages at `/`. */
  readonly dashboard?: Dashboard | undefined;
  /** Endpoints that need no key. */
  readonly open?: RouterOptions['open'];
  /** The keys. `open`: requests do not need a key; possible only on loopback. */
  readonly access: Access;
  /** Stores responses for clients that repeat a request. */
  readonly keys: Store['keys'];
  /** Needed if several nodes serve the same clients: one node at a time applies a repeated request. */
  readonly claims?: Claims | undefined;
  /** The host to listen on; loopback by default. */
  readonly host?: string | undefined;
  /** The port; 0, the default, selects any free port. */
  readonly port?: number | undefined;
  /** Host names of the server, in addition to the loopback ones and, if it is not on loopback, its addresses. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Pages of other origins that may use the server, e.g. `https://fleet.example.com`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly log?: RequestLog | undefined;
  readonly isReady?: (() => Readiness | Promise<Readiness>) | undefined;
  /** A database outside of this process. Without it the store counts as always reachable. */
  readonly database?: DatabaseWatch | undefined;
  /** Rejects requests for new work while the server is overloaded. */
  readonly admission?: Readonly<Record<AdmissionKind, Admission>> | undefined;
  readonly checkSessionLimits?: RouteServices['checkSessionLimits'];
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly schedule?: Schedule | undefined;
  readonly streams?: EventStreamsOptions | undefined;
  /** Signs the cursors of lists. Without one they are invalid after a restart. */
  readonly signingKey?: Uint8Array | undefined;
  readonly bodyBytesMax?: number | undefined;
  /** The maximum of connections; by default as many as the descriptor limit of the process allows. */
  readonly connectionsMax?: number | undefined;
  /** The maximum of connections of one address other than loopback, by default half of all. For servers behind a proxy on another machine. */
  readonly connectionsPerAddressMax?: number | undefined;
  /** Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted. */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly timeouts?: Timeouts | undefined;
  /** The certificates; if absent, the server uses http. */
  readonly tls?: LoadedTls | undefined;
}

/** A listening server. */
export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** The base URL for clients. */
  readonly url: string;
  readonly openStreams: number;
  readonly streamsByRoute: ReadonlyMap<string, number>;
  /** True after `announceStop`. */
  readonly isStopping: boolean;
  /**
   * From now on `/readyz` reports `stopping` and every response closes its connection. Requests are still accepted and served,
   * so that a load balancer can remove this server before `close`.
   */
  announceStop(): void;
  /** Uses these certificates for new connections. Only for a server that was started with certificates. */
  setTls(tls: LoadedTls): void;
  /**
   * Ends streams with a reconnect delay, waits for requests up to the grace period, then closes every connection.
   */
  close(): Promise<void>;
}

/**
 * Opens the HTTP server: the given routes behind keys, checks and limits.
 *
 * @example
 * const { keys } = await openKeyStore({ directory: 'data/keys' });
 * const server = await createHttpServer({ routes, access: keys, keys: store.keys, port: 4000 });
 * const client = new Anthropic({ baseURL: server.url, apiKey });
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, access, log = {}, clock = systemClock, schedule = systemSchedule } = options;
  const { tls } = options;
  const { ids = createIds({ now: clock.now, random: Math.random }), rateLimit, isReady = () => true } = options;
  const { onError = (error) => process.emitWarning(error instanceof Error ? error : String(error)) } = log;
  const isLoopback = isLoopbackHost(host);
  if (access === 'open' && !isLoopback)
    throw requestError('key_required', `${host} can be reached from other machines`);
  const rules: SiteRules = {
    isLoopback,
    hosts: [...(options.allowedHosts ?? []), ...(tls?.names ?? [])],
    origins: options.allowedOrigins ?? [],
  };
  const proxies = createTrustedProxies(options.trustedProxies);
  const streams = createEventStreams({ clock, schedule, ...options.streams });
  const credentials = createCredentialWatch({ access, schedule, onError: (error) => onError(error, '') });
  let isStopping = false;
  const router = createRouter({
    routes: options.routes,
    mounts: options.mounts ?? [],
    dashboard: options.dashboard,
    open: options.open,
    access,
    countRequest: rateLimit === undefined ? () => {} : createRateLimiter(rateLimit, clock),
    replays: createReplays({
      keys: options.keys,
      clock,
      claims: options.claims,
      onError: (error) => onError(error, ''),
    }),
    pages: createPageSeals(options.signingKey),
    streams,
    credentials,
    checkSessionLimits: options.checkSessionLimits,
    admission: options.admission,
    clock,
    schedule,
    bodyBytesMax: options.bodyBytesMax ?? baseLimits.bodyBytesMax,
    onError,
    isReady: async () => {
      if (isStopping) return { reason: 'stopping' };
      return options.database?.isAway === true ? { reason: 'database' } : await isReady();
    },
    database: options.database,
  });
  const listener = createListener({ router, rules, proxies, ids, clock, log, onError });
  const { timeouts = DEFAULT_TIMEOUTS } = options;
  const choice = { max: options.connectionsMax, perAddressMax: options.connectionsPerAddressMax };
  const connections = createConnectionLimits(choice);
  const onProblem = (problem: Error) => onError(problem, '');
  const served = await serve({
    host,
    port,
    tls,
    connections,
    timeouts,
    clock,
    onProblem,
    isProxy: (address) => proxies.has(address),
    ...listener,
  });

  let closing: Promise<void> | undefined;
  return {
    host,
    port: served.port,
    url: toUrl(host, served.port, tls),
    get openStreams() {
      return streams.count;
    },
    streamsByRoute: streams.countByRoute,
    get isStopping() {
      return isStopping;
    },
    announceStop,
    setTls: served.setTls,
    close: () => (closing ??= close(served)),
  };

  function announceStop(): void {
    isStopping = true;
    listener.stopKeeping();
  }

  async function close({ server, closeUnused }: Served): Promise<void> {
    announceStop();
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    closeUnused();
    streams.drain();
    credentials.close();
    const cancel = schedule(() => server.closeAllConnections(), httpLimits.shutdownGraceMs);
    let cancelIdle = () => {};
    // Node closes connections that are idle now; those of streams and requests become idle only when these have ended.
    const closeIdle = () => {
      server.closeIdleConnections();
      cancelIdle = schedule(closeIdle, CLOSE_IDLE_MS);
    };
    closeIdle();
    await closed;
    cancelIdle();
    cancel();
  }
}

/** The base URL. With TLS it has a name of the certificate: clients reject any other name. */
function toUrl(host: string, port: number, tls: LoadedTls | undefined): string {
  const name = tls === undefined || tls.names.includes(host) ? host : (tls.names[0] ?? host);
  return `http${tls === undefined ? '' : 's'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** How often connections are closed that have become idle while the server stops. */
const CLOSE_IDLE_MS = 50;
