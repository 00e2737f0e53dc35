import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FleetloomError } from '../../../base/errors.ts';
import { limits } from '../../../base/limits.ts';
import type { GatewayEvent } from './events.ts';
import { createForwarder, type Forwarder } from './forwarder.ts';
import { toProgramEnvironment } from './program-environment.ts';
import { sendProblem } from './send-problem.ts';
import type { Upstream } from './upstream.ts';

export interface GatewaySessionOptions {
  readonly upstream: Upstream;
  /**
   * Hears what every agent is being answered, piece by piece, in order. It is called in the middle of passing bytes on, so
   * it must be quick, and nothing is kept for it: who cannot follow has to drop, not to wait.
   */
  readonly onEvent: (event: GatewayEvent) => void;
}

export interface GatewaySession {
  /** What the program gets as `ANTHROPIC_BASE_URL`. It holds the session's secret. */
  readonly baseURL: string;
  /** What to set in the program's environment, given the one that it would have otherwise. */
  environment(inherited: Readonly<Record<string, string | undefined>>): Record<string, string>;
  /** Ends what is under way; from now on the program is refused. */
  close(): void;
}

export interface Gateway {
  /** A way through for the program of one session. */
  open(options: GatewaySessionOptions): GatewaySession;
  /** Closes all sessions and stops listening. */
  close(): Promise<void>;
}

export interface GatewayOptions {
  /** Requests of one session under way at a time. */
  readonly requestsMax?: number | undefined;
  /** Hears of our own mistakes. */
  readonly onProblem?: ((problem: unknown) => void) | undefined;
}

/**
 * Stands between the claude program and the Messages endpoint, on loopback, and passes everything through as it is. On
 * the way it reads who is being answered what: the program itself prints the growing text of its main agent only.
 *
 * @example
 * const gateway = await openGateway();
 * const session = gateway.open({ upstream, onEvent: (event) => console.log(event.agentId, event.event) });
 * spawn('claude', args, { env: { ...process.env, ...session.environment(process.env) } });
 */
export async function openGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const { requestsMax = limits.gatewayRequestsMax, onProblem = (problem) => process.emitWarning(String(problem)) } =
    options;
  /** By the digest of its secret: what is compared byte by byte tells nobody how much of a guess was right. */
  const sessions = new Map<string, Forwarder>();
  const server = createServer(serverOptions, (request, response) => {
    const { secret, path } = splitTarget(request.url ?? '/');
    const forwarder = sessions.get(digestOf(secret));
    if (forwarder === undefined) refuse(request, response);
    else forwarder.forward(request, response, path);
  });
  const port = await listen(server);
  let requests = 0;

  return {
    open: ({ upstream, onEvent }) => {
      const secret = randomBytes(32).toString('base64url');
      const key = digestOf(secret);
      const nextId = () => `request_${++requests}`;
      const forwarder = createForwarder({ upstream, onEvent, onProblem, nextId, requestsMax });
      sessions.set(key, forwarder);
      const baseURL = `http://${LOOPBACK}:${port}/${secret}`;
      return {
        baseURL,
        environment: (inherited) => toProgramEnvironment(inherited, baseURL, upstream),
        close: () => {
          if (sessions.delete(key)) forwarder.close();
        },
      };
    },
    close: async () => {
      for (const forwarder of sessions.values()) forwarder.close();
      sessions.clear();
      await stop(server);
    },
  };
}

const LOOPBACK = '127.0.0.1';

const serverOptions = {
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
  maxHeaderSize: limits.headerBytesMax,
};

/** `/<secret>/v1/messages?beta=true`. */
function splitTarget(url: string): { secret: string; path: string } {
  const [, secret = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
  return { secret, path: rest.startsWith('/') ? rest : `/${rest}` };
}

function digestOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function refuse(request: IncomingMessage, response: ServerResponse): void {
  sendProblem(request, response, 401, 'This gateway serves the claude program of one session, and this is not it');
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => reject(toListenError(cause)));
    server.listen(0, LOOPBACK, resolve);
  });
  // The address of a server that listens on a port is one with a port.
  return (server.address() as AddressInfo).port;
}

function toListenError(cause: Error): FleetloomError {
  return new FleetloomError({
    code: 'gateway_cannot_listen',
    kind: 'retryable',
    problem: `the gateway for the claude program cannot listen on ${LOOPBACK}: ${cause.message}`,
    advice: 'sub-agents are shown block by block until it can',
    cause,
  });
}

async function stop(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}
