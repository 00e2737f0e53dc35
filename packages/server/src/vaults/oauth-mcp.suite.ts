import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { serveMcp, type TestMcp } from '../tools/mcp/mcp-server.suite.ts';

/** A real MCP server that responds with 401 unless a request has a token in `accepts`. */
export interface ProtectedMcp {
  readonly url: string;
  readonly port: number;
  /** The tokens that the server accepts. */
  readonly accepts: Set<string>;
  /** The `authorization` header of every request, in order. */
  readonly seen: (string | undefined)[];
  readonly mcp: TestMcp;
}

export async function serveProtectedMcp(...tokens: string[]): Promise<ProtectedMcp> {
  const accepts = new Set(tokens);
  const seen: (string | undefined)[] = [];
  const mcp = await serveMcp({
    guard: ({ headers }) => {
      seen.push(headers.authorization);
      return accepts.has(headers.authorization?.replace(/^Bearer /, '') ?? '') ? 200 : 401;
    },
  });
  return { url: mcp.url, port: mcp.port, accepts, seen, mcp };
}

/** A request that a token endpoint received. */
export interface TokenCall {
  readonly headers: IncomingHttpHeaders;
  readonly form: Readonly<Record<string, string>>;
}

/** The response of a token endpoint. */
export interface TokenReply {
  readonly status?: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The response is delayed until this resolves. */
  readonly after?: Promise<unknown>;
}

/** A token endpoint on a port of this machine. */
export interface TokenEndpoint {
  readonly url: string;
  readonly host: string;
  readonly calls: TokenCall[];
  reply: (call: TokenCall) => TokenReply;
}

export async function serveTokenEndpoint(reply: TokenEndpoint['reply']): Promise<TokenEndpoint> {
  const server = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
      const form = Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()));
      const call = { headers: request.headers, form };
      endpoint.calls.push(call);
      const { status = 200, body, headers, after } = endpoint.reply(call);
      await after;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    })().catch(() => response.destroy());
  });
  const host = await listen(server);
  const endpoint: TokenEndpoint = { url: `http://${host}/token`, host, calls: [], reply };
  return endpoint;
}

/** Listens until the test ends; resolves with `host:port`. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
