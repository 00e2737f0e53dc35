import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import { HeldBytes } from '../../base/held-bytes.ts';
import { ignoringFailure } from '../../base/in-background.ts';
import {
  dropBody,
  type IncomingAnswer,
  type McpAuthorization,
  openConnections,
  type OutgoingRequest,
} from '../../base/outgoing-http.ts';
import { untilAborted } from '../../base/until-aborted.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { AddressRules } from '../network/find-addresses.ts';
import { Exchange, type ExchangeOptions, late } from './exchange.ts';
import { McpFault } from './mcp-fault.ts';
import { type Allowance, MessageGuard } from './message-guard.ts';
import { openRequest } from './open-request.ts';
import { type MessageKind, toResponse } from './to-response.ts';

export interface McpFetchOptions extends AddressRules {
  readonly limits: ToolLimits;
  readonly clock: Pick<Clock, 'steady'>;
  /** The only URL to which credentials are sent, wherever the server redirects or refers to. */
  readonly serverUrl: string;
  readonly authorization?: McpAuthorization | undefined;
  /** Called when the stream of notifications exceeds a limit: the connection must not be used any more. */
  readonly onFault: (fault: McpFault) => void;
}

/** The replacement of `fetch` for the library, for one connection to one server. */
export interface McpFetch {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** Runs requests that belong together, and ends all requests that are still open afterwards. */
  exchange<Result>(options: ExchangeOptions, work: (exchange: Exchange) => Promise<Result>): Promise<Result>;
  /** Runs the sending of one message. Only a request is part of the exchange that it is sent in. */
  sending<Result>(kind: MessageKind, send: () => Promise<Result>): Promise<Result>;
  /** The exchange in which the caller runs. */
  current(): Exchange | undefined;
  /** Ends all open requests. */
  close(): void;
}

/** The bytes of incomplete messages of all sessions. */
const heldByAll = new HeldBytes();

/**
 * Bounds the responses of an MCP server below the library, which reads without limits: bytes, values, depth and rate are
 * counted before the library receives them, and every request ends.
 */
export function createMcpFetch(options: McpFetchOptions): McpFetch {
  const { limits, clock, onFault } = options;
  const contexts = new AsyncLocalStorage<{ readonly kind: MessageKind; readonly exchange: Exchange | undefined }>();
  const connections = openConnections();
  const held = new HeldBytes(heldByAll);
  const open = new Set<() => void>();
  let notices = 0;
  let isClosed = false;

  return {
    fetch: async (address, init = {}) => {
      if (isClosed) throw new McpFault('unreachable', 'the connection is closed');
      const { kind = 'request', exchange } = contexts.getStore() ?? {};
      if (init.method === 'DELETE') return await notify(address, init);
      // With a GET the library resumes a response, or opens the stream of notifications.
      if (init.method === 'GET')
        return await ask(address, init, exchange === undefined ? 'stream' : 'request', exchange);
      return kind === 'notice' ? await notify(address, init) : await ask(address, init, kind, exchange);
    },
    exchange: async (exchangeOptions, work) => {
      const exchange = new Exchange(exchangeOptions);
      const inContext = () => contexts.run({ kind: 'request', exchange }, () => work(exchange));
      return await exchange.run(inContext, exchangeOptions);
    },
    sending: async (kind, send) => {
      const exchange = kind === 'request' ? contexts.getStore()?.exchange : undefined;
      return await contexts.run({ kind, exchange }, send);
    },
    current: () => contexts.getStore()?.exchange,
    close: () => {
      isClosed = true;
      for (const end of open) end();
      connections.close();
    },
  };

  /** Sends a notification or response. Limited, because a server that sends requests without end would cause responses without end. */
  async function notify(address: string | URL, init: RequestInit): Promise<Response> {
    if (notices >= limits.mcpNoticesMax) throw new McpFault('limit', 'too many messages are on their way to it');
    notices++;
    try {
      return await ask(address, init, 'notice', undefined);
    } finally {
      notices--;
    }
  }

  async function ask(
    address: string | URL,
    init: RequestInit,
    kind: MessageKind,
    exchange: Exchange | undefined,
  ): Promise<Response> {
    const { mcpConnectMs: connectMs } = limits;
    const life = openLife(init.signal ?? undefined, exchange);
    // A response to a request is limited by its exchange, any other response by this timer.
    const patience = kind === 'request' ? undefined : setTimeout(() => life.end(late(connectMs)), connectMs);
    life.onEnd(() => clearTimeout(patience));
    try {
      const request = {
        url: new URL(address),
        method: init.method ?? 'GET',
        headers: Object.fromEntries(new Headers(init.headers)),
        body: typeof init.body === 'string' ? init.body : undefined,
        signal: life.signal,
        connectMs,
      };
      const incoming = await send(request);
      incoming.on('close', () => life.settle());
      if (kind === 'stream') clearTimeout(patience);
      return toResponse(incoming, kind, (form, isRefusal) => {
        const allowance = isRefusal ? toAllowance(limits.mcpErrorBytesMax, limits) : exchange?.allowance;
        const answer = allowance ?? (kind === 'stream' ? undefined : toAllowance(limits.mcpHandshakeBytesMax, limits));
        const guard = new MessageGuard({ form, allowance: answer, limits, clock, held, heldByAll });
        return toBody(incoming, guard, life, exchange);
      });
    } catch (error) {
      const reason: unknown = life.signal.reason;
      life.end();
      throw reason instanceof McpFault ? reason : toFault(error);
    }
  }

  /** Sends a request with the current credential. After a 401 it is repeated once, if there is another credential by then. */
  async function send(request: OutgoingRequest): Promise<IncomingAnswer> {
    const { authorization, serverUrl } = options;
    const isForIt = authorization !== undefined && request.url.href === new URL(serverUrl).href;
    const header = isForIt ? await untilAborted(authorization.find(serverUrl), request.signal) : undefined;
    const first = await sendWith(request, header);
    if (!isForIt || first.statusCode !== 401 || header === undefined) return first;
    const second = await untilAborted(authorization.find(serverUrl, header), request.signal);
    if (second === undefined) return first;
    dropBody(first);
    return await sendWith(request, second);
  }

  async function sendWith(request: OutgoingRequest, header: string | undefined): Promise<IncomingAnswer> {
    const headers = { ...request.headers, ...(header === undefined ? {} : { authorization: header }) };
    return await openRequest(connections, { ...request, headers }, options);
  }

  /** The lifetime of one request, until no more of its response can arrive. */
  function openLife(signal: AbortSignal | undefined, exchange: Exchange | undefined): Life {
    const stop = new AbortController();
    const undo: (() => void)[] = [];
    const settle = (): void => {
      for (const each of undo.splice(0)) each();
    };
    const end = (reason?: McpFault): void => {
      stop.abort(reason);
      settle();
    };
    const onAbort = (): void => end();
    open.add(onAbort);
    undo.push(() => open.delete(onAbort));
    if (exchange !== undefined) undo.push(exchange.onEnd(onAbort));
    // The library uses one signal for all its requests, and Node warns about more than ten listeners.
    if (signal !== undefined) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort);
    undo.push(() => signal?.removeEventListener('abort', onAbort));
    if (signal?.aborted === true) end();
    return { signal: stop.signal, end, settle, onEnd: (action) => void undo.push(action) };
  }

  function toBody(
    incoming: IncomingAnswer,
    guard: MessageGuard,
    life: Life,
    exchange: Exchange | undefined,
  ): ReadableStream<Uint8Array> {
    const chunks = guard.read(incoming);
    // Ends the generator, because a suspended one would keep its bytes counted as held.
    const leave = (): void => {
      incoming.destroy();
      ignoringFailure(chunks.return());
    };
    life.signal.addEventListener('abort', leave, { once: true });
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          try {
            const { done, value } = await chunks.next();
            if (done !== true) return controller.enqueue(value);
            exchange?.broke(new McpFault('unreachable', 'the answer broke off'));
            controller.close();
          } catch (error) {
            const fault = toFault(error);
            if (fault.kind !== 'limit') exchange?.broke(fault);
            else if (exchange === undefined) onFault(fault);
            else exchange.fail(fault);
            controller.error(fault);
            life.end();
          }
        },
        cancel: () => life.end(),
      },
      { highWaterMark: 0 },
    );
  }
}

interface Life {
  readonly signal: AbortSignal;
  /** Aborts the request. */
  end(reason?: McpFault): void;
  /** Called when the request has ended without an abort. */
  settle(): void;
  onEnd(action: () => void): void;
}

function toAllowance(bytesMax: number, { mcpHandshakeValuesMax: valuesMax }: ToolLimits): Allowance {
  return { bytesMax, bytes: bytesMax, valuesMax, values: valuesMax };
}

/** Converts an error to a fault. Of Node's errors only the code is used, because their messages contain addresses. */
function toFault(error: unknown): McpFault {
  if (error instanceof McpFault) return error;
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ERROR';
  if (code === 'HPE_HEADER_OVERFLOW') return new McpFault('limit', 'the headers of the answer are too large');
  if (code === 'ERR_INTERIM_ANSWERS') return new McpFault('limit', 'it sent too many interim answers');
  if (code.startsWith('HPE_')) return new McpFault('broken', 'its answer is not HTTP', { cause: error });
  return new McpFault('unreachable', `the connection failed (${code})`, { cause: error });
}
