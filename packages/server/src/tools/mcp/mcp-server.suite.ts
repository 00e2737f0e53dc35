import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type CallToolResult,
  createMcpHandler,
  Server,
  type Tool,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { afterEach } from 'vitest';

export interface TestMcpOptions {
  /** The protocol: `old` with sessions, as until 2025, or `new` without, as since 2026. */
  readonly kind?: 'old' | 'new';
  /** The tools, in pages. */
  readonly pages?: readonly (readonly string[])[];
  readonly answer?: (name: string, input: unknown, signal: AbortSignal) => Promise<CallToolResult>;
  /** Checks each request first. A status other than 200 is sent as the response. */
  readonly guard?: (request: IncomingMessage) => number;
  /** A tool during whose response the connection breaks. */
  readonly breaking?: string;
  readonly port?: number;
}

export interface TestMcp {
  readonly url: string;
  readonly port: number;
  /** The requested methods, such as `tools/call`. */
  readonly methods: string[];
  readonly calls: { name: string; input: unknown }[];
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  /** Replaces the tools and notifies the clients. */
  setPages(pages: readonly (readonly string[])[]): Promise<void>;
  stop(): Promise<void>;
}

const running: TestMcp[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** A real MCP server of the official library, on a port of this machine. */
export async function serveMcp(options: TestMcpOptions = {}): Promise<TestMcp> {
  const { kind = 'old', guard = () => 200, answer = async (name) => say(`ran ${name}`) } = options;
  let pages = options.pages ?? [['echo']];
  const methods: string[] = [];
  const calls: { name: string; input: unknown }[] = [];
  const servers = new Set<Server>();
  let headers: IncomingMessage['headers'] = {};

  const handler = kind === 'new' ? createMcpHandler(() => createLibraryServer(), { legacy: 'reject' }) : undefined;
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const http = createServer((request, response) => {
    headers = request.headers;
    const status = guard(request);
    if (status !== 200) return void response.writeHead(status).end('{}');
    handle(request, response).catch(() => response.destroy());
  });
  http.listen(options.port ?? 0, '127.0.0.1');
  await once(http, 'listening');
  // A server that listens on a port has such an address.
  const { port } = http.address() as AddressInfo;

  const server: TestMcp = {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    methods,
    calls,
    headers: () => headers,
    setPages: async (next) => {
      pages = next;
      if (handler !== undefined) handler.notify.toolsChanged();
      else await Promise.all([...servers].map((each) => each.sendToolListChanged()));
    },
    stop: async () => {
      http.closeAllConnections();
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
      });
      // A request on a connection that just closed may or may not have arrived. Let clients notice the end first.
      await wait(50);
    },
  };
  running.push(server);
  return server;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    // Without an encoding a request gives buffers.
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const parsed: unknown = body === '' ? undefined : JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && 'method' in parsed) methods.push(String(parsed.method));
    if (options.breaking !== undefined && body.includes(`"name":"${options.breaking}"`)) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
      return void setTimeout(() => response.destroy(), 20);
    }
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    const web = new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? 'GET',
      headers: Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]),
      signal: stop.signal,
      ...(body === '' ? {} : { body }),
    });
    const answered = handler === undefined ? await handleOld(request, web) : await handler.fetch(web);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    if (answered.body === null) response.end();
    // The same stream: only the types of Node and of the web do not know each other.
    else Readable.fromWeb(answered.body as Parameters<typeof Readable.fromWeb>[0]).pipe(response);
  }

  async function handleOld(request: IncomingMessage, web: Request): Promise<Response> {
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? sessions.get(id) : undefined;
    if (known !== undefined) return await known.handleRequest(web);
    if (id !== undefined) return new Response('{}', { status: 404 });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
    });
    await createLibraryServer().connect(transport);
    return await transport.handleRequest(web);
  }

  function createLibraryServer(): Server {
    const library = new Server({ name: 'test', version: '1' }, { capabilities: { tools: { listChanged: true } } });
    library.setRequestHandler('tools/list', async ({ params }) => {
      const page = Number(params?.cursor ?? 0);
      const tools = (pages[page] ?? []).map((name) => toTool(name));
      return page + 1 < pages.length ? { tools, nextCursor: String(page + 1) } : { tools };
    });
    library.setRequestHandler('tools/call', async ({ params }, context) => {
      calls.push({ name: params.name, input: params.arguments });
      return await answer(params.name, params.arguments, context.mcpReq.signal);
    });
    servers.add(library);
    return library;
  }
}

export function say(text: string, isError = false): CallToolResult {
  return { content: [{ type: 'text', text }], isError };
}

function toTool(name: string): Tool {
  return {
    name,
    description: `Does ${name}`,
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  };
}
