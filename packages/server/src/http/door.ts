import { type Clock, systemClock } from '../base/clock.ts';
import { createIds, type Ids } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type Schedule, systemSchedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';
import { createApp, type Readiness } from './app.ts';
import type { Access } from './auth/authenticate.ts';
import { createCredentialWatch } from './auth/credential-watch.ts';
import { isLoopbackHost, type SiteRules } from './check-site.ts';
import { createConnectionLimits } from './connections/connection-limits.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import { doorError } from './door-error.ts';
import { createListener } from './listener.ts';
import type { Mount } from './mount-other.ts';
import { createPageSeals } from './page-seals.ts';
import { createRateLimiter, type RateLimit } from './rate-limit.ts';
import { createReplays } from './replays.ts';
import type { DoorLog } from './request-log.ts';
import type { Claims } from './shared-claims.ts';
import type { AnyRoute } from './route.ts';
import { DEFAULT_TIMEOUTS, type Served, serve, type Timeouts } from './serve.ts';
import { createEventStreams, type EventStreamsOptions } from './sse/event-streams.ts';

export interface DoorOptions {
  readonly routes: readonly AnyRoute[];
  /** Whole other APIs below a path of their own. */
  readonly mounts?: readonly Mount[] | undefined;
  /** The pages for people, at `/`. */
  readonly dashboard?: Dashboard | undefined;
  /** Where keys are looked up. `open` lets everybody in, and is possible only on loopback. */
  readonly access: Access;
  /** Where answers are kept for clients that repeat a request. */
  readonly keys: Store['keys'];
  /** Where several nodes may be asked the same. */
  readonly claims?: Claims | undefined;
  /** Loopback unless told otherwise. */
  readonly host?: string | undefined;
  /** 0, the default, takes any free one. */
  readonly port?: number | undefined;
  /** Names by which people call the server, beside the loopback ones and, if it is not on loopback, its addresses. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Pages of other origins that may use the server, e.g. `https://fleet.example.com`. */
  readonly allowedOrigins?: readonly string[] | undefined;
  readonly rateLimit?: RateLimit | undefined;
  readonly log?: DoorLog | undefined;
  readonly isReady?: (() => Readiness | Promise<Readiness>) | undefined;
  readonly clock?: Clock | undefined;
  readonly ids?: Ids | undefined;
  readonly schedule?: Schedule | undefined;
  readonly streams?: EventStreamsOptions | undefined;
  /** Signs the cursors of lists. Without one they are invalid after a restart. */
  readonly signingKey?: Uint8Array | undefined;
  readonly bodyBytesMax?: number | undefined;
  /** As many as the descriptors of the process allow, unless it is said. */
  readonly connectionsMax?: number | undefined;
  /** Of one address other than loopback; half of them unless it is said. For servers behind a proxy on another machine. */
  readonly connectionsPerAddressMax?: number | undefined;
  readonly timeouts?: Timeouts | undefined;
}

export interface Door {
  readonly host: string;
  readonly port: number;
  /** What clients need as their base URL. */
  readonly url: string;
  readonly openStreams: number;
  /**
   * Says good-bye to streams, lets requests finish for a while, and then closes what is left. Resolves when nothing is open.
   */
  close(): Promise<void>;
}

/**
 * Opens the HTTP door: the given routes behind keys, checks and limits.
 *
 * @example
 * const { keys } = await openKeyStore({ directory: 'data/keys' });
 * const door = await createDoor({ routes, access: keys, keys: store.keys, port: 4000 });
 * const client = new Anthropic({ baseURL: door.url, apiKey });
 */
export async function createDoor(options: DoorOptions): Promise<Door> {
  const { host = '127.0.0.1', port = 0, access, log = {}, clock = systemClock, schedule = systemSchedule } = options;
  const { ids = createIds({ now: clock.now, random: Math.random }), rateLimit, isReady = () => true } = options;
  const { onMishap = (error) => process.emitWarning(error instanceof Error ? error : String(error)) } = log;
  const isLoopback = isLoopbackHost(host);
  if (access === 'open' && !isLoopback) throw doorError('key_required', `${host} can be reached by others`);
  const rules: SiteRules = { isLoopback, hosts: options.allowedHosts ?? [], origins: options.allowedOrigins ?? [] };
  const streams = createEventStreams({ clock, schedule, ...options.streams });
  const credentials = createCredentialWatch({ access, schedule, onMishap: (error) => onMishap(error, '') });
  let isClosing = false;
  const app = createApp({
    routes: options.routes,
    mounts: options.mounts ?? [],
    dashboard: options.dashboard,
    access,
    countRequest: rateLimit === undefined ? () => {} : createRateLimiter(rateLimit, clock),
    replays: createReplays({
      keys: options.keys,
      clock,
      claims: options.claims,
      onMishap: (error) => onMishap(error, ''),
    }),
    pages: createPageSeals(options.signingKey),
    streams,
    credentials,
    bodyBytesMax: options.bodyBytesMax ?? limits.bodyBytesMax,
    onMishap,
    isReady: async () => (isClosing ? { reason: 'stopping' } : await isReady()),
  });
  const listener = createListener({ app, rules, ids, clock, log, onMishap });
  const { timeouts = DEFAULT_TIMEOUTS } = options;
  const choice = { max: options.connectionsMax, perAddressMax: options.connectionsPerAddressMax };
  const connections = createConnectionLimits(choice);
  const onProblem = (problem: Error) => onMishap(problem, '');
  const served = await serve({ host, port, connections, timeouts, clock, onProblem, ...listener });

  let closing: Promise<void> | undefined;
  return {
    host,
    port: served.port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${served.port}`,
    get openStreams() {
      return streams.count;
    },
    close: () => (closing ??= close(served)),
  };

  async function close({ server, closeUnused }: Served): Promise<void> {
    isClosing = true;
    const closed = new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    closeUnused();
    streams.drain();
    credentials.close();
    listener.stopKeeping();
    const cancel = schedule(() => server.closeAllConnections(), limits.shutdownGraceMs);
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

/** How often connections are closed that have become idle while the server stops. */
const CLOSE_IDLE_MS = 50;
