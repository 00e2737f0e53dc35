import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';

/** Sends requests to untrusted servers. Unlike `fetch` it takes the addresses to connect to, and bounds what precedes a body. */
export interface Connections {
  /**
   * Sends a request and resolves with the response when its headers have arrived. Redirects are not followed, and nothing is decompressed.
   * Rejects with an error that has a `code`. The caller reads the response, or drops it with {@link dropBody}.
   */
  send(request: OutgoingRequest): Promise<IncomingAnswer>;
  /** Closes idle connections. Connections of requests in progress end with the signals of their requests. */
  close(): void;
}

/** A request to a server that may be hostile. */
export interface OutgoingRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** How long connecting may take. */
  readonly connectMs: number;
  /** Replaces the system's lookup: only addresses that it returns are connected to. */
  readonly lookup?: LookupFunction | undefined;
}

/** The credentials of one session for its MCP servers. */
export interface McpAuthorization {
  /**
   * The `authorization` header of a request to a server, or undefined if the session has no credential for it. It is read again for
   * each request. `rejected`: the header of a request that the server has answered with 401; the result is another one, or undefined.
   */
  find(url: string, rejected?: string): Promise<string | undefined>;
  /** Changes whenever there is another credential for the server, or the same one was updated. */
  version(url: string): Promise<string>;
}

export type IncomingAnswer = IncomingMessage;

/** Opens a pool of connections with limits on headers and idle time. Close it to end them. */
export function openConnections(): Connections {
  const kept = { keepAlive: true, maxFreeSockets: 4, timeout: IDLE_MS };
  const agents = { http: new HttpAgent(kept), https: new HttpsAgent(kept) };
  return {
    send: async ({ url, method, headers, body, signal, connectMs, lookup }) => {
      const isSecure = url.protocol === 'https:';
      const options = { method, headers, signal, maxHeaderSize: HEADER_BYTES_MAX, ...(lookup && { lookup }) };
      return await new Promise((resolve, reject) => {
        const sent = isSecure
          ? requestHttps(url, { ...options, agent: agents.https })
          : requestHttp(url, { ...options, agent: agents.http });
        const patience = setTimeout(() => sent.destroy(withCode('ETIMEDOUT', 'no connection in time')), connectMs);
        let interim = 0;
        sent.on('error', reject);
        // Interim responses, such as 102. A peer could send them without end.
        sent.on('information', () => {
          if (++interim > INTERIM_MAX) sent.destroy(withCode('ERR_INTERIM_ANSWERS', 'too many interim answers'));
        });
        sent.on('response', (answer) => {
          // Reading the response reports the error, but a listener is needed afterwards, too.
          answer.on('error', () => {});
          resolve(answer);
        });
        sent.on('close', () => clearTimeout(patience));
        sent.on('socket', (socket) => {
          if (!socket.connecting) clearTimeout(patience);
          else socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(patience));
        });
        sent.end(body);
      });
    },
    close: () => {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Reads the rest of a short body, so that the connection can be reused. With a longer rest, the connection is closed. */
export function dropBody(answer: IncomingAnswer): void {
  let bytes = 0;
  const patience = setTimeout(() => answer.destroy(), DROP_MS).unref();
  answer.on('close', () => clearTimeout(patience));
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DROP_BYTES) answer.destroy();
  });
}

/** How long a connection without requests is kept. */
const IDLE_MS = 30_000;
const HEADER_BYTES_MAX = 16 * 1024;
const INTERIM_MAX = 16;
const DROP_MS = 1_000;
const DROP_BYTES = 4_096;

function withCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
