import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { baseLimits } from '../../base/limits.ts';
import { httpLimits } from '../limits.ts';
import type { ConnectionLimits } from '../connections/connection-limits.ts';
import { Connections, type RequestSlot } from '../connections/connections.ts';
import { requestError } from '../../base/request-error.ts';
import type { LoadedTls } from './tls.ts';
import type { ErrorAnswer } from '../response/to-error-answer.ts';

/** The settings and callbacks of the Node server. */
export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  /** The connection limits, read again every few seconds: the descriptor limit can change while the process runs. */
  readonly connections: () => ConnectionLimits;
  /** Whether the address belongs to a trusted proxy, which has connections for many clients. */
  readonly isProxy?: ((address: string | undefined) => boolean) | undefined;
  readonly timeouts: Timeouts;
  /** The certificates; if absent, the server uses http. */
  readonly tls?: LoadedTls | undefined;
  readonly clock: Pick<Clock, 'steady'>;
  readonly onRequest: (incoming: IncomingMessage, outgoing: ServerResponse, slot: RequestSlot) => void;
  /** The response to a client that did not send a valid request. */
  readonly onBadRequest: (error: Error, socket: Socket) => ErrorAnswer | undefined;
  /** Receives failures to accept connections, at most one in 10 s. */
  readonly onProblem: (problem: Error) => void;
}

/** How long clients may take to send a request and to read the response. */
export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often the limits are checked. */
  readonly checkMs: number;
  /** How long a client may read nothing of a response. */
  readonly stallMs?: number | undefined;
}

/** The timeouts of a server that is not under test. */
export const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: baseLimits.headersTimeoutMs,
  requestMs: baseLimits.requestTimeoutMs,
  checkMs: 5_000,
};

/** A listening server of Node. */
export interface Served {
  readonly server: Server | TlsServer;
  /** Uses these certificates for new connections. */
  readonly setTls: (tls: LoadedTls) => void;
  readonly port: number;
  /** Closes connections that never sent a request. Node counts them as busy, and would wait for them when it closes. */
  readonly closeUnused: () => void;
}

/** Starts a Node server with a limit on every phase that a slow client could prolong. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { host, port, timeouts, clock, onBadRequest } = options;
  let most = options.connections();
  const connections = new Connections(most, clock.steady, options.isProxy);
  const { tls } = options;
  const server = createNodeServer(tls, {
    maxHeaderSize: baseLimits.headerBytesMax,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.requestMs,
    connectionsCheckingInterval: timeouts.checkMs,
    keepAliveTimeout: baseLimits.keepAliveTimeoutMs,
    // check-site.ts checks the header and responds with an error envelope.
    requireHostHeader: false,
    insecureHTTPParser: false,
  });
  const handshakes = new Handshakes();
  server.on('connection', (socket: Socket) => {
    if (connections.admit(socket) && tls !== undefined) handshakes.add(socket);
  });
  server.on('secureConnection', (socket: Socket) => {
    const plain = handshakes.take(socket);
    if (plain !== undefined) connections.replace(plain, socket);
  });
  server.maxConnections = most.max + httpLimits.connectionsSlack;
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    connections.begin(incoming.socket, (slot) => {
      outgoing.on('close', () => {
        slot.end();
        closeUnread(incoming);
      });
      options.onRequest(incoming, outgoing, slot);
    });
  };
  server.on('request', onRequest);
  // Without these listeners Node sends `100 Continue` before the key is checked, and a 417 without the envelope.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: Error, socket: Socket) => {
    // Without a finished handshake, the client cannot read a response.
    if (tls !== undefined && !handshakes.isDone(socket)) return void socket.destroy();
    refuse(socket, () => onBadRequest(error, socket));
  });
  server.on('connect', (_, socket: Socket) => refuse(socket, () => onBadRequest(new Error('CONNECT'), socket)));
  await listen(server, port, host);
  server.on('error', createAcceptReporter(connections, options));
  const watch = () => {
    connections.watchStalled(timeouts.stallMs ?? httpLimits.answerStallMs);
    const next = options.connections();
    if (next.max === most.max) return;
    most = next;
    server.maxConnections = most.max + httpLimits.connectionsSlack;
    connections.setLimits(most);
  };
  const watching = setInterval(watch, timeouts.checkMs);
  watching.unref();
  server.once('close', () => clearInterval(watching));
  const address = server.address();
  return {
    server,
    port: typeof address === 'object' && address !== null ? address.port : port,
    closeUnused: () => {
      handshakes.close();
      connections.closeUnused();
    },
    setTls: ({ context }) => {
      if ('setSecureContext' in server) server.setSecureContext(context);
    },
  };
}

function createNodeServer(tls: LoadedTls | undefined, options: ServerOptions): Server | TlsServer {
  if (tls === undefined) return createServer(options);
  const { context, requiresClients } = tls;
  const handshakeTimeout = options.headersTimeout;
  const clients = { requestCert: requiresClients, rejectUnauthorized: requiresClients };
  return createTlsServer({ ...options, ...context, ...clients, ...(handshakeTimeout && { handshakeTimeout }) });
}

/** Connections whose TLS handshake is not finished, and the encrypted sockets of the others. */
class Handshakes {
  readonly #open = new Map<string, Socket>();
  readonly #done = new WeakSet<Socket>();

  add(socket: Socket): void {
    const place = placeOf(socket);
    this.#open.set(place, socket);
    socket.once('close', () => {
      if (this.#open.get(place) === socket) this.#open.delete(place);
    });
  }

  /** The connection below an encrypted socket. */
  take(secure: Socket): Socket | undefined {
    this.#done.add(secure);
    const place = placeOf(secure);
    const socket = this.#open.get(place);
    this.#open.delete(place);
    return socket;
  }

  isDone(secure: Socket): boolean {
    return this.#done.has(secure);
  }

  close(): void {
    for (const socket of this.#open.values()) socket.destroy();
  }
}

/** A key for both sockets of a connection, which have the same addresses. */
function placeOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`;
}

async function listen(server: Server | TlsServer, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: Error) => reject(toListenError(host, port, cause));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

/**
 * Without a free descriptor Node emits the failed `accept` as an error of the server, which would end the process. Closing
 * connections of the lowest rank frees descriptors.
 */
function createAcceptReporter(
  connections: Connections,
  { clock, onProblem }: Pick<ServeOptions, 'clock' | 'onProblem'>,
): (error: Error) => void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  return (cause) => {
    connections.shed(httpLimits.connectionsSlack);
    const now = clock.steady();
    if (now - reportedAt < httpLimits.acceptReportMs) return;
    reportedAt = now;
    const problem = `new connections cannot be accepted, with ${connections.count} open: ${cause.message}`;
    onProblem(requestError('cannot_accept', problem, { cause }));
  };
}

/** Sends the error and closes the connection, also when the client keeps its side open. */
function refuse(socket: Socket, toAnswer: () => ErrorAnswer | undefined): void {
  const answer = socket.writable ? toAnswer() : undefined;
  if (answer === undefined) {
    socket.destroy();
    return;
  }
  socket.on('error', () => socket.destroy());
  socket.end(toRawAnswer(answer));
  closeSoon(socket);
}

/** Disconnects a client that continues to send a body after its request was answered without reading it. */
function closeUnread(incoming: IncomingMessage): void {
  if (!incoming.complete && !incoming.socket.destroyed) closeSoon(incoming.socket, () => !incoming.complete);
}

/** Closes after a pause: closing while the client sends resets the connection, and the client loses the response. */
function closeSoon(socket: Socket, isNeeded: () => boolean = () => true): void {
  // No listener for its close: a connection that is kept would have one for each of its requests.
  setTimeout(() => {
    if (isNeeded()) socket.destroy();
  }, baseLimits.lingerMs).unref();
}

/** The bytes of a response: without a request, Node has no response object to write it. */
function toRawAnswer({ status, body }: ErrorAnswer): string {
  const text = JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    `request-id: ${body.request_id ?? ''}`,
    'connection: close',
    '',
    text,
  ].join('\r\n');
}

function toListenError(host: string, port: number, cause: Error) {
  const isTaken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
  return isTaken
    ? requestError('port_taken', `port ${port} of ${host} is taken`, { cause })
    : requestError('cannot_listen', `cannot listen on ${host} port ${port}: ${cause.message}`, { cause });
}
