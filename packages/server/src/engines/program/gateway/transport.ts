import * as http from 'node:http';
import * as https from 'node:https';
import { duplexPair, type Readable } from 'node:stream';
import { toLookup } from '../../../base/to-lookup.ts';
import type { Upstream } from './upstream.ts';

/** A request on its way to the endpoint. */
export interface OutgoingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  /** Null: the request is sent without a body. */
  readonly body: Readable | null;
  readonly bodyBytesMax: number;
  readonly signal: AbortSignal;
  /** The only addresses to connect to: the name is not resolved again, so it cannot resolve to another address in the meantime. */
  readonly addresses?: readonly string[] | undefined;
}

/** Sends requests over the network, or within this process. */
export interface Transport {
  /** Resolves with the response when its headers arrive. It does not decompress, follow redirects or retry. */
  send(request: OutgoingRequest): Promise<http.IncomingMessage>;
  close(): void;
}

/** Sends requests to the endpoint or handler of an upstream. */
export function createTransport(upstream: Upstream): Transport {
  return upstream.type === 'endpoint' ? createEndpointTransport(upstream.baseURL) : toHandler(upstream.handle);
}

/** Sends requests to an endpoint over HTTP. */
export function createEndpointTransport(baseURL: string): Transport {
  const base = new URL(baseURL);
  const library = base.protocol === 'https:' ? https : http;
  const agent = new library.Agent({ keepAlive: true });
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    send: (request) => {
      const { hostname, port, protocol } = base;
      // Node requires an IPv6 address without the brackets that it has in a URL.
      const host = hostname.replace(/^\[|\]$/g, '');
      const lookup = request.addresses === undefined ? {} : { lookup: toLookup(request.addresses) };
      return start(request, library.request, {
        host,
        port,
        protocol,
        agent,
        path: `${prefix}${request.path}`,
        ...lookup,
      });
    },
    close: () => agent.destroy(),
  };
}

/** HTTP over a pair of in-memory streams: no port that another process could find. */
function toHandler(handle: http.RequestListener): Transport {
  const server = http.createServer(handle);
  return {
    send: (request) => {
      const [near, far] = duplexPair();
      // The ends of a pair do not close each other. An end that has written everything has ended properly: its output
      // must still be read.
      far.once('close', () => far.writableFinished || near.destroy());
      near.once('close', () => far.destroy());
      server.emit('connection', far);
      // The `agent` option is absent: even with `false`, Node would open a connection of its own.
      return start(request, http.request, { createConnection: () => near, path: request.path });
    },
    close: () => server.closeAllConnections(),
  };
}

/** The error for a body with more bytes than allowed. */
export class BodyTooLarge extends Error {}

type Start = (options: http.RequestOptions) => http.ClientRequest;

async function start(
  { method, headers, body, bodyBytesMax, signal }: OutgoingRequest,
  request: Start,
  way: http.RequestOptions,
): Promise<http.IncomingMessage> {
  const outgoing = request({ ...way, method, headers: [...headers], signal, setHost: false });
  if (body === null) outgoing.end();
  else send(body, outgoing, bodyBytesMax);
  return await new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    // The listener stays: destroying the response destroys its connection, which is an error of the request too.
    outgoing.on('error', reject);
  });
}

function send(body: Readable, outgoing: http.ClientRequest, bodyBytesMax: number): void {
  let bytes = 0;
  body.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes > bodyBytesMax) outgoing.destroy(new BodyTooLarge());
  });
  // Not `pipeline`, which would destroy the program's request when the endpoint responds before it has read everything:
  // the response must reach the program, and the rest of the request is read and dropped.
  body.pipe(outgoing);
  outgoing.once('close', () => body.unpipe(outgoing).resume());
}
