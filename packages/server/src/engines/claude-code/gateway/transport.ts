import * as http from 'node:http';
import * as https from 'node:https';
import { duplexPair, type Readable } from 'node:stream';
import type { Upstream } from './upstream.ts';

export interface OutgoingRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Readable;
  readonly signal: AbortSignal;
}

/** How requests leave: over the network, or within this process. */
export interface Transport {
  /** The answer as soon as its headers are there. Nothing is unpacked, followed or repeated. */
  send(request: OutgoingRequest): Promise<http.IncomingMessage>;
  close(): void;
}

export function createTransport(upstream: Upstream): Transport {
  return upstream.type === 'endpoint' ? toEndpoint(upstream.baseURL) : toHandler(upstream.handle);
}

function toEndpoint(baseURL: string): Transport {
  const base = new URL(baseURL);
  const library = base.protocol === 'https:' ? https : http;
  const agent = new library.Agent({ keepAlive: true });
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    send: (request) => {
      const { hostname, port, protocol } = base;
      // Node wants an IPv6 address without the brackets that it has in a URL.
      const host = hostname.replace(/^\[|\]$/g, '');
      return start(request, library.request, { host, port, protocol, agent, path: `${prefix}${request.path}` });
    },
    close: () => agent.destroy(),
  };
}

/** The same HTTP over a pair of pipes in memory: no port that somebody else could find. */
function toHandler(handle: http.RequestListener): Transport {
  const server = http.createServer(handle);
  return {
    send: (request) => {
      const [near, far] = duplexPair();
      server.emit('connection', far);
      // No agent, not even `false`: with one, Node would make a connection of its own.
      return start(request, http.request, { createConnection: () => near, path: request.path });
    },
    close: () => server.closeAllConnections(),
  };
}

type Start = (options: http.RequestOptions) => http.ClientRequest;

async function start(
  { method, headers, body, signal }: OutgoingRequest,
  request: Start,
  way: http.RequestOptions,
): Promise<http.IncomingMessage> {
  const outgoing = request({ ...way, method, headers: [...headers], signal, setHost: false });
  // Not `pipeline`, which would destroy the program's request when the endpoint refuses before it has read everything: what
  // the endpoint said counts, and the rest is read and thrown away.
  body.pipe(outgoing);
  outgoing.once('close', () => body.unpipe(outgoing).resume());
  return await new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    // Stays on: whoever destroys the answer destroys its connection, which is an error of the request too.
    outgoing.on('error', reject);
  });
}
