import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { allowOrigin } from './allow-origin.ts';
import type { App } from './app.ts';
import { checkSite, isAllowedOrigin, type SiteRules } from './check-site.ts';
import type { RequestSlot } from './connections/connections.ts';
import { type DoorErrorCode, doorError } from './door-error.ts';
import { CLIENT_GONE, Exchange } from './exchange.ts';
import type { DoorLog } from './request-log.ts';
import { ClientGone } from './request/read-body.ts';
import { type ErrorAnswer, toErrorAnswer } from './to-error-answer.ts';

export interface ListenerOptions {
  readonly app: App;
  readonly rules: SiteRules;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: DoorLog;
  readonly onMishap: (error: unknown, requestId: string) => void;
}

/** What Node's server calls. */
export interface Listener {
  onRequest(incoming: IncomingMessage, outgoing: ServerResponse, slot: RequestSlot): void;
  /** What Node could not read as a request, or waited for in vain. Undefined: nobody can be told. */
  onBadRequest(error: Error, socket: Socket): ErrorAnswer | undefined;
  /** From now on every answer is the last one of its connection. */
  stopKeeping(): void;
}

/** Gives every request its id, its place in the log and an answer, whatever goes wrong. */
export function createListener({ app, rules, ids, clock, log, onMishap }: ListenerOptions): Listener {
  /** Requests whose answer is not over, by their connection, which has one at a time. */
  const open = new Map<Socket, Exchange>();
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  let isStopping = false;
  const route = getRequestListener(
    async (request, { incoming }) => {
      // Of HTTP/1, because that is what we serve; and `onRequest` made its exchange.
      const exchange = exchanges.get(incoming as IncomingMessage)!;
      try {
        return await app.fetch(request, { exchange });
      } catch (error) {
        exchange.refuse(error, onMishap);
        return RESPONSE_ALREADY_SENT;
      }
    },
    {
      // Its faster Response would replace the global one, also for the code of whoever embeds this server.
      overrideGlobalObjects: false,
      // Thrown on, to be refused like everything else.
      errorHandler: (error) => {
        if (!(error instanceof RequestError)) throw error;
        throw doorError('invalid_request', 'the request has an address that is none', { cause: error });
      },
    },
  );

  return {
    onRequest: (incoming, outgoing, slot) => {
      const exchange = new Exchange(ids.next('req'), incoming, outgoing, slot);
      begin(exchange);
      try {
        checkSite(rules, incoming.headers, incoming.method ?? '');
        if (isAllowedOrigin(rules, incoming.headers.origin) && allowOrigin(exchange)) return;
      } catch (error) {
        return exchange.refuse(error, onMishap);
      }
      route(incoming, outgoing).catch((error: unknown) => exchange.refuse(error, onMishap));
    },

    onBadRequest: (error, socket) => {
      const exchange = open.get(socket);
      // Half an answer cannot become another one.
      if (exchange?.outgoing.headersSent === true) return undefined;
      if (isGone(error)) {
        exchange?.note(new ClientGone(), CLIENT_GONE);
        return undefined;
      }
      const { code, problem } = toBadRequest(error);
      const refusal = doorError(code, problem, { cause: error });
      const answer = toErrorAnswer(refusal, exchange?.id ?? ids.next('req'));
      exchange?.note(refusal, answer.status);
      return answer;
    },

    stopKeeping: () => {
      isStopping = true;
      for (const { outgoing } of open.values()) if (!outgoing.headersSent) outgoing.setHeader('connection', 'close');
    },
  };

  function begin(exchange: Exchange): void {
    const { incoming, outgoing } = exchange;
    const startedAt = clock.steady();
    const { socket } = incoming;
    exchanges.set(incoming, exchange);
    open.set(socket, exchange);
    if (isStopping) outgoing.setHeader('connection', 'close');
    outgoing.on('error', (error) => exchange.note(error, CLIENT_GONE));
    outgoing.on('close', () => {
      if (open.get(socket) === exchange) open.delete(socket);
      try {
        log.onRequest?.(exchange.toLogEntry(clock.steady() - startedAt));
      } catch (error) {
        // A failing log must not end the server.
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    });
  }
}

/** Nobody is left to be told. */
function isGone(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || code === 'HPE_INVALID_EOF_STATE';
}

function toBadRequest(error: Error): { code: DoorErrorCode; problem: string } {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'headers_too_large', problem: `the headers have more than ${limits.headerBytesMax} bytes` };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'request_timeout', problem: 'the request took too long to arrive' };
  }
  return { code: 'invalid_request', problem: 'this is no HTTP request' };
}
