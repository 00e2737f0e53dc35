import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { inBackground } from '../../base/in-background.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { baseLimits } from '../../base/limits.ts';
import { allowOrigin } from './allow-origin.ts';
import type { Router } from './router.ts';
import { checkSite, isAllowedOrigin, type SiteRules } from '../auth/check-site.ts';
import type { TrustedProxies } from '../connections/client-origin.ts';
import type { RequestSlot } from '../connections/connections.ts';
import { type RequestErrorCode, requestError } from '../../base/request-error.ts';
import { CLIENT_GONE, Exchange } from '../routing/exchange.ts';
import type { RequestLog } from '../../base/request-log.ts';
import { ClientGone } from '../request/client-gone.ts';
import { type ErrorAnswer, toErrorAnswer } from '../response/to-error-answer.ts';

/** The services that route and log every request. */
export interface ListenerOptions {
  readonly router: Router;
  readonly rules: SiteRules;
  readonly proxies: TrustedProxies;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: RequestLog;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The callbacks of Node's HTTP server. */
export interface Listener {
  onRequest(incoming: IncomingMessage, outgoing: ServerResponse, slot: RequestSlot): void;
  /** The response to bytes that are not a request, or to a request that timed out. Undefined: no response is possible. */
  onBadRequest(error: Error, socket: Socket): ErrorAnswer | undefined;
  /** Closes every connection after its next response. */
  stopKeeping(): void;
}

/** Gives every request an id, a log entry and a response, also after a failure. */
export function createListener({ router, rules, proxies, ids, clock, log, onError }: ListenerOptions): Listener {
  /**
   * The current request of each connection. Entries live as long as their connection: a map that changes with
   * every request leaves a chain of outdated tables, which keep their requests in memory until the next full garbage collection.
   */
  const connections = new Map<Socket, { current: Exchange | undefined }>();
  let isStopping = false;
  return {
    onRequest: (incoming, outgoing, slot) => {
      const exchange = new Exchange(ids.next('req'), { incoming, outgoing }, slot, proxies.originOf(incoming));
      begin(exchange);
      try {
        checkSite(rules, incoming.headers, incoming.method ?? '');
        if (isAllowedOrigin(rules, incoming.headers.origin) && allowOrigin(exchange)) return;
      } catch (error) {
        return exchange.refuse(error, onError);
      }
      inBackground(router(exchange), (error) => exchange.refuse(error, onError));
    },

    onBadRequest: (error, socket) => {
      const exchange = connections.get(socket)?.current;
      // A response that has begun cannot be replaced.
      if (exchange?.outgoing.headersSent === true) return undefined;
      if (isGone(error)) {
        exchange?.note(new ClientGone(), CLIENT_GONE);
        return undefined;
      }
      const { code, problem } = toBadRequest(error);
      const refusal = requestError(code, problem, { cause: error });
      const answer = toErrorAnswer(refusal, exchange?.id ?? ids.next('req'));
      exchange?.note(refusal, answer.status);
      return answer;
    },

    stopKeeping: () => {
      isStopping = true;
      for (const { current } of connections.values()) {
        if (current?.outgoing.headersSent === false) current.outgoing.setHeader('connection', 'close');
      }
    },
  };

  function begin(exchange: Exchange): void {
    const { incoming, outgoing } = exchange;
    const startedAt = clock.steady();
    const connection = connectionOf(incoming.socket);
    connection.current = exchange;
    if (isStopping) outgoing.setHeader('connection', 'close');
    outgoing.on('error', (error) => exchange.note(error, CLIENT_GONE));
    outgoing.on('close', () => {
      if (connection.current === exchange) connection.current = undefined;
      try {
        log.onRequest?.(exchange.toLogEntry(clock.steady() - startedAt));
      } catch (error) {
        // A failing log must not end the server.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    });
  }

  function connectionOf(socket: Socket): { current: Exchange | undefined } {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const connection = { current: undefined };
    if (socket.destroyed) return connection;
    connections.set(socket, connection);
    socket.once('close', () => connections.delete(socket));
    return connection;
  }
}

/** Whether the client has left, so that no response can be sent. */
function isGone(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'HPE_INVALID_EOF_STATE';
}

function toBadRequest(error: Error): { code: RequestErrorCode; problem: string } {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'headers_too_large', problem: `the headers have more than ${baseLimits.headerBytesMax} bytes` };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'request_timeout', problem: 'the request took too long to arrive' };
  }
  return { code: 'invalid_request', problem: 'the bytes received are not an HTTP request' };
}
