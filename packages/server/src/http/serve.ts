import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '../base/limits.ts';
import { doorError } from './door-error.ts';
import type { ErrorAnswer } from './to-error-answer.ts';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly connectionsMax: number;
  readonly timeouts: Timeouts;
  readonly onRequest: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /** What to tell a client that did not manage to send a request. */
  readonly onBadRequest: (error: Error, socket: Socket) => ErrorAnswer | undefined;
}

export interface Timeouts {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How often to look. */
  readonly checkMs: number;
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: limits.headersTimeoutMs,
  requestMs: limits.requestTimeoutMs,
  checkMs: 5_000,
};

export interface Served {
  readonly server: Server;
  readonly port: number;
  /** Of connections that were opened and never used. Node takes them for busy, and waits for them when it closes. */
  readonly closeUnused: () => void;
}

/** A server of Node that listens, with limits on everything that a client could take its time with. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { host, port, connectionsMax, timeouts, onRequest, onBadRequest } = options;
  const unused = new Set<Socket>();
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: timeouts.checkMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
    },
    (incoming, outgoing) => {
      unused.delete(incoming.socket);
      onRequest(incoming, outgoing);
    },
  );
  server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  server.maxConnections = connectionsMax;
  server.on('clientError', (error: Error, socket: Socket) => {
    const answer = socket.writable ? onBadRequest(error, socket) : undefined;
    if (answer === undefined) socket.destroy();
    else socket.end(toRawAnswer(answer));
  });
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: Error) => reject(toListenError(host, port, cause));
    server.once('error', onError);
    server.listen(port, host, () => {
      server.off('error', onError);
      resolve();
    });
  });
  const address = server.address();
  return {
    server,
    port: typeof address === 'object' && address !== null ? address.port : port,
    closeUnused: () => {
      // Whoever has begun to ask gets an answer.
      for (const socket of unused) if (socket.bytesRead === 0) socket.destroy();
    },
  };
}

/** No request means no response object, so the bytes are made by hand. */
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
    ? doorError('port_taken', `port ${port} of ${host} is taken`, { cause })
    : doorError('cannot_listen', `cannot listen on ${host} port ${port}: ${cause.message}`, { cause });
}
