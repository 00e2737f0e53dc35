import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as send,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { egressLimits } from './limits.ts';
import { Refusal } from './open-target.ts';
import { dropHopByHop, listValues } from './raw-headers.ts';

/** A request on its way to a host. */
export interface ForwardedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The path and query that the host is asked for. */
  readonly path: string;
  /** An open connection for this request alone, or what opens connections. */
  readonly connection: { readonly socket: Socket } | { readonly agent: Agent };
  /** The host, for messages. */
  readonly shown: string;
  /** Headers in the place of those of the request. */
  readonly headers?: readonly string[] | undefined;
  /** A body in the place of that of the request. */
  readonly body?: Buffer | undefined;
}

/** Sends a request as a new one, so that nothing of its form reaches the host, and passes the answer on. Throws a {@link Refusal}. */
export async function forwardRequest(forwarded: ForwardedRequest): Promise<void> {
  const { request, response, path, connection, shown, body } = forwarded;
  const headers = toHeaders(forwarded);
  // From here on its end is an error of the request.
  if (request.socket.destroyed) throw new Refusal('unreachable', 'the client is gone', 502);
  await new Promise<void>((resolve, reject) => {
    let isAnswered = false;
    const fail = (error: Error) => {
      if (isAnswered) return;
      outgoing.destroy();
      reject(error instanceof Refusal ? error : new Refusal('unreachable', `${shown}: ${error.message}`, 502));
    };
    const own = 'socket' in connection ? { createConnection: () => connection.socket } : { agent: connection.agent };
    const outgoing = start({ ...own, method: request.method, path, headers, setHost: false });
    outgoing.on('error', fail);
    outgoing.on('response', (answer) => {
      try {
        passOn(answer, response, 'agent' in connection);
        isAnswered = true;
        answer.on('close', () => resolve());
      } catch (error) {
        // The host has sent what may not be sent on.
        fail(error as Error);
      }
    });
    outgoing.on('close', () => fail(new Error('it has closed the connection without an answer')));
    request.on('error', fail);
    // The connection is kept for the next request unless this one was given up.
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (body === undefined) request.pipe(outgoing);
    else outgoing.end(body);
  });
}

/** Throws a {@link Refusal} for what may not be sent, such as a control character of a secret in a header. */
function start(options: RequestOptions): ClientRequest {
  try {
    return send({ ...options, maxHeaderSize: egressLimits.headerBytesMax });
  } catch (error) {
    throw new Refusal('request_not_understood', `the request cannot be sent on: ${(error as Error).message}`, 400);
  }
}

function toHeaders({ request, headers: given, body, connection }: ForwardedRequest): string[] {
  const headers = dropHopByHop(given ?? request.rawHeaders);
  if ('socket' in connection) headers.push('connection', 'close');
  if (body !== undefined) {
    const isLength = (name: string) => name.toLowerCase() === 'content-length';
    const others = headers.filter((_, at) => !isLength(headers[at - (at % 2)]!));
    return [...others, 'content-length', String(body.length)];
  }
  if (listValues(request.rawHeaders, 'transfer-encoding').length > 0) headers.push('transfer-encoding', 'chunked');
  return headers;
}

/** Answers are not changed, apart from what belongs to the connection. */
function passOn(answer: IncomingMessage, response: ServerResponse, isInTunnel: boolean): void {
  response.sendDate = false;
  // Where the connection to the host ends with this response, the tunnel does too.
  const isLast = answer.headers.connection?.toLowerCase() === 'close' || answer.httpVersion === '1.0';
  if (isInTunnel && isLast) response.shouldKeepAlive = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, dropHopByHop(answer.rawHeaders));
  answer.on('error', () => response.destroy());
  answer.on('aborted', () => response.destroy());
  answer.pipe(response);
}
