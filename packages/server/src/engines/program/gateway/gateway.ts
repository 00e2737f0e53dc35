import { createHash, randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { FleetloomError } from '../../../base/errors.ts';
import { shareOfDescriptors } from '../../../base/process/descriptors.ts';
import { ignoringFailure } from '../../../base/in-background.ts';
import { baseLimits } from '../../../base/limits.ts';
import { programLimits } from '../limits.ts';
import {
  createSessionRequests,
  refusePath,
  SERVED_PATH,
  type SessionOptions,
  type SessionRequests,
} from './gateway-session.ts';
import { toProgramEnvironment } from './program-environment.ts';
import { sendProblem } from './send-problem.ts';
import { refuse } from './tunnels.ts';

/** Options of the gateway for one session. */
export type GatewaySessionOptions = Pick<
  SessionOptions,
  'upstream' | 'wire' | 'serve' | 'mcpServers' | 'network' | 'authorization' | 'onEvent'
>;

/** The gateway for the program of one session. */
export interface GatewaySession {
  /** The program's `ANTHROPIC_BASE_URL`. It contains the session's secret. */
  readonly baseURL: string;
  /** The path of the socket for requests of the program; null if the program uses the port. */
  readonly socketPath: string | null;
  /** The environment variables to set for the program, given its other variables. */
  environment(inherited: Readonly<Record<string, string | undefined>>): Record<string, string>;
  /** The URL by which a program without a network reaches an MCP server of its agents. */
  mcpUrlOf(serverName: string): string;
  /** The URL of the MCP server that `serve` implements, as the program reaches it. */
  readonly servedUrl: string;
  /** Why the program could not reach an MCP server at its last attempt; null if it could. */
  whyUnreachable(serverName: string): string | null;
  /** Ends open requests; from now on requests of the program are rejected. */
  close(): void;
}

/** Forwards the requests of all programs of this server. */
export interface Gateway {
  /** Opens the gateway for the program of one session. */
  open(options: GatewaySessionOptions): Promise<GatewaySession>;
  /** Closes all sessions and stops listening. */
  close(): Promise<void>;
}

/** Options of the gateway. */
export interface GatewayOptions {
  /**
   * For programs without a network: the directory where each session gets a socket of its own, and the port inside the sandbox
   * on which a relay accepts requests for it. Without this option all programs share one port on loopback.
   */
  readonly sockets?: { readonly directory: string; readonly port: number } | undefined;
  /** Maximum of concurrent model requests of one session. */
  readonly requestsMax?: number | undefined;
  /** Receives internal errors. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

/**
 * Forwards the requests of programs: to the endpoint of the model, unchanged except for the
 * operator's credential, to the MCP servers of its agents and, from a sandbox, to hosts that the session's environment allows.
 * It reads model responses as they pass, because the claude program prints deltas of its main agent only.
 *
 * @example
 * const gateway = await openGateway();
 * const session = await gateway.open({ upstream, mcpServers: [], network, onEvent });
 * spawn('claude', args, { env: { ...env, ...session.environment(env) } });
 */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { sockets, requestsMax = programLimits.gatewayRequestsMax } = options;
  const { onProblem = (problem) => process.emitWarning(String(problem)) } = options;
  const sessions = new Sessions();
  const open = new Set<() => void>();
  const common = sockets === undefined ? createListener(sessions, onProblem) : undefined;
  // Limited, because programs of other users of this machine can connect too.
  if (common !== undefined)
    common.maxConnections = shareOfDescriptors(1 / 8, { min: 8, max: programLimits.gatewayPortConnectionsMax });
  const port = common === undefined ? undefined : await listen(common, { host: LOOPBACK, port: 0 });
  let requests = 0;
  let opened = 0;

  return {
    open: async (asked) => {
      const nextId = () => `request_${++requests}`;
      const hasTunnels = sockets !== undefined;
      const handlers = createSessionRequests({ ...asked, hasTunnels, onProblem, nextId, requestsMax });
      const secret = randomBytes(32).toString('base64url');
      const own = sockets === undefined ? undefined : new Sessions();
      const forget = (own ?? sessions).add(secret, handlers);
      const socketPath = sockets === undefined ? null : join(sockets.directory, `${(opened++).toString(36)}.sock`);
      const server = own === undefined ? undefined : createListener(own, onProblem);
      if (server !== undefined && socketPath !== null) {
        server.maxConnections = programLimits.gatewaySocketConnectionsMax;
        await listen(server, { path: socketPath });
      }
      const baseURL = `http://${LOOPBACK}:${sockets?.port ?? port}/${secret}`;
      const close = () => {
        forget();
        handlers.close();
        open.delete(close);
        if (server === undefined) return;
        ignoringFailure(stop(server));
        if (socketPath !== null) ignoringFailure(rm(socketPath, { force: true }));
      };
      open.add(close);
      return {
        baseURL,
        socketPath,
        environment: (inherited) => toProgramEnvironment(inherited, { ...asked, baseURL, hasTunnels }),
        servedUrl: `${baseURL}${SERVED_PATH}`,
        mcpUrlOf: (serverName) => `${baseURL}${handlers.mcpPathOf(serverName)}`,
        whyUnreachable: (serverName) => handlers.whyUnreachable(serverName),
        close,
      };
    },
    close: async () => {
      for (const close of open) close();
      if (common !== undefined) await stop(common);
    },
  };
}

const LOOPBACK = '127.0.0.1';

/** Sessions by the digest of their secrets, so that the time of a comparison does not reveal how much of a guess was right. */
class Sessions {
  readonly #byDigest = new Map<string, SessionRequests>();

  /** Adds a session. Returns the function that removes it. */
  add(secret: string, handlers: SessionRequests): () => void {
    const key = digestOf(secret);
    this.#byDigest.set(key, handlers);
    return () => void this.#byDigest.delete(key);
  }

  find(secret: string): SessionRequests | undefined {
    return this.#byDigest.get(digestOf(secret));
  }
}

function createListener(sessions: Sessions, onProblem: (problem: unknown) => void): Server {
  const server: Server = createServer(serverOptions, (request, response) => {
    const { secret, target } = splitTarget(request.url ?? '/');
    if (secret === undefined) return refusePath(request, response, target);
    const found = sessions.find(secret);
    if (found === undefined) refuseStranger(request, response);
    else found.handle(request, response, target);
    // Reports connections that cannot be accepted for lack of descriptors; other errors reject the call that waits for `listening`.
  }).on('error', (error) => server.listening && onProblem(error));
  server.on('connect', (request: IncomingMessage, near: Duplex, head: Buffer) => {
    near.on('error', () => near.destroy());
    const found = sessions.find(readProxySecret(request.headers['proxy-authorization']));
    if (found === undefined) refuse(near, '407 Proxy Authentication Required', STRANGER);
    else found.connect(request, near, head);
  });
  return server;
}

const serverOptions = {
  headersTimeout: baseLimits.headersTimeoutMs,
  requestTimeout: baseLimits.requestTimeoutMs,
  keepAliveTimeout: baseLimits.keepAliveTimeoutMs,
  maxHeaderSize: baseLimits.headerBytesMax,
};

/** Splits a request target such as `/<secret>/v1/messages?beta=true`. A full URL, or another target that is not a path, has no secret. */
function splitTarget(url: string): { secret: string | undefined; target: string } {
  if (!url.startsWith('/')) return { secret: undefined, target: url };
  const [, secret = '', target = ''] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
  return { secret, target };
}

/** Reads the secret from a `Basic` header with any name: clients send the password of a proxy's URL in this form. */
function readProxySecret(header: string | undefined): string {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '') ?? [];
  return Buffer.from(encoded, 'base64').toString('latin1').split(':').slice(1).join(':');
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const STRANGER = 'This gateway serves the program of one session, and this is not it';

function refuseStranger(request: IncomingMessage, response: ServerResponse): void {
  sendProblem(request, response, 401, STRANGER);
}

type Place = { readonly host: string; readonly port: number } | { readonly path: string };

/** Resolves with the port, or with 0 for a socket. */
async function listen(server: Server, place: Place): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(toListenError(place, cause)));
    server.listen(place, resolve);
  });
  const address: AddressInfo | string | null = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function toListenError(place: Place, cause: Error): FleetloomError {
  return new FleetloomError({
    code: 'gateway_cannot_listen',
    kind: 'retryable',
    problem: `the gateway for programs cannot listen on ${'path' in place ? place.path : place.host}: ${cause.message}`,
    advice: 'check that the data directory can be written and that its path is short',
    cause,
  });
}

async function stop(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}
