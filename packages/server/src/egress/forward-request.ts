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
  /** The path and query of the request to the host. */
  readonly path: string;
  /** An open connection for this request alone, or an agent that opens connections. */
  readonly connection: { readonly socket: Socket } | { readonly agent: Agent };
  /** The host as named in error messages. */
  readonly shown: string;
  /** Headers that replace the headers of the request. */
  readonly headers?: readonly string[] | undefined;
  /** A body that replaces the body of the request. */
  readonly body?: Buffer | undefined;
}

/** Sends a request in a new format, so that its original form never reaches the host, and forwards the response. Throws a {@link Refusal}. */
export async function forwardRequest(forwarded: ForwardedRequest): Promise<void> {
  const { request, response, path, connection, shown, body } = forwarded;
  const headers = toHeaders(forwarded);
  // A client that leaves later causes an error event of the request.
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
        // The response of the host cannot be forwarded.
        fail(error as Error);
      }
    });
    outgoing.on('close', () => fail(new Error('it has closed the connection without an answer')));
    request.on('error', fail);
    // The connection is kept for the next request unless the client has given up this one.
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (body === undefined) request.pipe(outgoing);
    else outgoing.end(body);
  });
}

/** Begins a request. Throws a {@link Refusal} if it cannot be sent, for example because of a control character of a secret in a header. */
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

/** Forwards a response unchanged, except for the headers of the connection. */
function passOn(answer: IncomingMessage, response: ServerResponse, isInTunnel: boolean): void {
  response.sendDate = false;
  // If the host closes its connection after this response, the tunnel is closed too.
  const isLast = answer.headers.connection?.toLowerCase() === 'close' || answer.httpVersion === '1.0';
  if (isInTunnel && isLast) response.shouldKeepAlive = false;
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, dropHopByHop(answer.rawHeaders));
  answer.on('error', () => response.destroy());
  answer.on('aborted', () => response.destroy());
  answer.pipe(response);
}
