import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionLog, EgressProtocol } from './connection-log.ts';
import { forwardPlain } from './forward-plain.ts';
import type { Interception } from './intercept-tunnel.ts';
import { egressLimits } from './limits.ts';
import { type OpenTargetOptions, Refusal } from './open-target.ts';
import type { Target } from './policy.ts';
import { sendRefusal, writeRefusal } from './send-refusal.ts';
import { openTunnel } from './open-tunnel.ts';

/** The dependencies of the proxy of one session. */
export interface EgressProxyOptions extends OpenTargetOptions {
  readonly log: ConnectionLog;
  /** If absent, no TLS is decrypted. */
  readonly interception?: Interception | undefined;
  readonly onProblem: (problem: unknown) => void;
}

/** The proxy of one session, as the listeners of an HTTP server. None of them throws. */
export interface EgressProxy {
  /** Handles a request to an absolute URL: `GET http://host/path`. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Handles `CONNECT host:port`. */
  connect(request: Pick<IncomingMessage, 'url'>, near: Socket, head: Buffer): void;
  /** Ends all connections. */
  close(): void;
}

/** Creates the proxy of one session. */
export function createEgressProxy(options: EgressProxyOptions): EgressProxy {
  /** The connections of clients, each with the controller that aborts the work for it. */
  const open = new Map<Socket, AbortController>();
  /** The number of tunnels and of requests in progress: a client may send many requests on one connection. */
  let underWay = 0;
  let isClosed = false;
  return {
    handle: (request, response) => {
      const refuse = (refusal: Refusal) => sendRefusal(request, response, refusal);
      const asked = { near: request.socket, url: request.url ?? '', protocol: 'http' as const, refuse };
      const release = start(asked, (signal) => forwardPlain(options, { request, response, signal }));
      response.once('close', release);
    },
    connect: (request, near, head) => {
      near.on('error', () => near.destroy());
      const refuse = (refusal: Refusal) => writeRefusal(near, refusal);
      const asked = { near, url: request.url ?? '', protocol: 'tunnel' as const, refuse };
      const release = start(asked, (signal) => openTunnel(options, { request, near, head, signal }));
      near.once('close', release);
    },
    close: () => {
      isClosed = true;
      for (const near of open.keys()) near.destroy();
    },
  };

  /** Runs `work`; its refusals are logged and sent to the client. Returns the function to call when the work has ended. */
  function start({ near, url, protocol, refuse }: Asked, work: (signal: AbortSignal) => Promise<void>): () => void {
    const { signal } = watch(near);
    const full = `${egressLimits.connectionsMax} connections of this session are open: close some of them`;
    const isFull = isClosed || underWay >= egressLimits.connectionsMax;
    if (!isFull) underWay++;
    const working = isFull ? Promise.reject(new Refusal('too_many_connections', full, 503)) : work(signal);
    working.catch((error: unknown) => {
      if (!(error instanceof Refusal)) options.onProblem(error);
      const refusal = error instanceof Refusal ? error : new Refusal('unreachable', 'the proxy failed', 502);
      options.log.refuse(toShown(url), protocol, refusal.reason);
      refuse(refusal);
    });
    if (isFull) return () => undefined;
    let isOver = false;
    const release = () => {
      if (!isOver) underWay--;
      isOver = true;
      signal.removeEventListener('abort', release);
    };
    // A response that waits for earlier responses on its connection emits no event when the connection closes.
    signal.addEventListener('abort', release, { once: true });
    return release;
  }

  function watch(near: Socket): AbortController {
    const known = open.get(near);
    if (known !== undefined) return known;
    const stop = new AbortController();
    // One listener for each request in progress, whose number is bounded.
    setMaxListeners(0, stop.signal);
    open.set(near, stop);
    const patience = setTimeout(() => near.destroy(), egressLimits.connectionMs).unref();
    near.once('close', () => {
      open.delete(near);
      clearTimeout(patience);
      stop.abort();
    });
    return stop;
  }
}

interface Asked {
  readonly near: Socket;
  readonly url: string;
  readonly protocol: EgressProtocol;
  readonly refuse: (refusal: Refusal) => void;
}

/** The target to log for a refused request, whose URL may be any text. */
function toShown(url: string): Target {
  const text = /^[a-z]+:\/\//i.test(url) ? url : `http://${url}`;
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed === undefined) return { host: url.slice(0, HOST_CHARS_MAX), port: 0 };
  const host = parsed.hostname.replace(/^\[|\]$/g, '').slice(0, HOST_CHARS_MAX);
  return { host, port: Number(parsed.port || (parsed.protocol === 'https:' ? 443 : 80)) };
}

const HOST_CHARS_MAX = 255;
