import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { AnswerEvent, GatewayEvent } from './events.ts';
import { type Gateway, type GatewayOptions, type GatewaySession, openGateway } from './gateway.ts';
import type { Upstream } from './upstream.ts';

/** A gateway with a test endpoint, and the events that it emitted. Closed after the test. */
export async function openWay(upstream: Upstream | RequestListener, options: GatewayOptions = {}): Promise<Way> {
  const gateway = await openGateway(options);
  onTestFinished(() => gateway.close());
  const heard: GatewayEvent[] = [];
  const to: Upstream = typeof upstream === 'function' ? await serveEndpoint(upstream) : upstream;
  const session = await gateway.open({ ...nowhere, upstream: to, onEvent: (event) => heard.push(event) });
  return { gateway, session, heard };
}

/** No MCP servers, and no network beside the endpoint. */
export const nowhere = {
  mcpServers: [],
  network: {
    findMcpServer: async () => Promise.reject(new Error('there is no network')),
    findHost: async () => Promise.reject(new Error('there is no network')),
  },
};

export interface Way {
  readonly gateway: Gateway;
  readonly session: GatewaySession;
  readonly heard: readonly GatewayEvent[];
}

export const KEY = 'sk-the-real-key';

export async function serveEndpoint(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { type: 'endpoint', baseURL: `http://127.0.0.1:${port}`, credential: { apiKey: KEY } };
}

export interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Sends a request like the program, with Node's own client, which does not decompress responses or follow redirects. */
export async function ask(session: GatewaySession, asked: Asked = {}): Promise<IncomingMessage> {
  const { method = 'POST', path = '/v1/messages?beta=true', headers = {}, body = '{}' } = asked;
  const { socketPath } = session;
  const way = socketPath === null ? {} : { socketPath };
  // Not parsed as a URL, which would normalise the path.
  const { hostname, port, pathname } = new URL(session.baseURL);
  const target = { hostname, port, path: `${pathname === '/' ? '' : pathname}${path}` };
  const request = httpRequest({ ...target, method, headers, agent: false, ...way });
  // A broken connection is reported when the response is read.
  request.on('error', () => undefined);
  request.end(method === 'GET' || method === 'HEAD' || method === 'DELETE' ? undefined : body);
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

export async function readAll(answer: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

export function eventsOf(heard: readonly GatewayEvent[]): AnswerEvent[] {
  return heard.map(({ event }) => event);
}

export function lastOf(heard: readonly GatewayEvent[]): AnswerEvent | undefined {
  return heard.at(-1)?.event;
}

/** An event of a stream as the API writes it. */
export function sse(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

export const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

/** A complete response with these words, one delta each. */
export function answerOf(words: readonly string[], id = 'msg_1'): string {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    usage: { input_tokens: 7 },
  };
  return [
    sse({ type: 'message_start', message }),
    sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) => sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    sse({ type: 'content_block_stop', index: 0 }),
    sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: words.length } }),
    sse({ type: 'message_stop' }),
  ].join('');
}
