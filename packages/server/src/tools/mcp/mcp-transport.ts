import { type JSONRPCMessage, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import type { Json, JsonObject } from '../../base/json/json.ts';
import type { Exchange } from './exchange.ts';
import type { McpFetch } from './mcp-fetch.ts';
import type { MessageKind } from './to-response.ts';

export interface McpTransportOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: McpFetch;
  readonly reconnectionScheduler: (reconnect: () => void, delayMs: number) => () => void;
}

/**
 * Wraps the transport of the library. It names the kind of each message that is sent, which `fetch` could only guess, and
 * takes results out of the messages that are received: the library would validate each part of them, and takes half a
 * second to list the issues of a bad one.
 */
export class McpTransport implements Transport {
  readonly hasPerRequestStream = true;
  onclose?: Transport['onclose'];
  onerror?: Transport['onerror'];
  onmessage?: Transport['onmessage'];
  readonly #fetch: McpFetch;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #waiting = new Map<number, { readonly exchange: Exchange; readonly method: string }>();

  constructor({ url, headers, fetch, reconnectionScheduler }: McpTransportOptions) {
    this.#fetch = fetch;
    this.#inner = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...headers } },
      fetch: async (address, init) => await fetch.fetch(address, init),
      reconnectionScheduler,
    });
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
    this.#inner.onclose = () => this.onclose?.();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
    this.#inner.onerror = (error) => this.onerror?.(error);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- not an event target
    this.#inner.onmessage = (message) => this.onmessage?.(this.#receive(message));
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(...[message, options]: Parameters<Transport['send']>): Promise<void> {
    const kind = toKind(message);
    const exchange = this.#fetch.current();
    if (exchange !== undefined && 'method' in message && 'id' in message && message.method in EMPTY_RESULTS) {
      const id = Number(message.id);
      this.#waiting.set(id, { exchange, method: message.method });
      exchange.onEnd(() => this.#waiting.delete(id));
    }
    // The cast: the types differ only in whether absent options may be undefined.
    await this.#fetch.sending(kind, async () => await this.#inner.send(message, options as never));
  }

  async terminateSession(): Promise<void> {
    await this.#inner.terminateSession();
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  #receive(message: JSONRPCMessage): JSONRPCMessage {
    const waiting = 'result' in message && 'id' in message ? this.#waiting.get(Number(message.id)) : undefined;
    if (waiting === undefined || !('result' in message)) return message;
    // A JSON object; the library's type is looser.
    const result = message.result as JsonObject;
    waiting.exchange.give(result);
    const plain = Object.entries(result).filter(([, value]: [string, Json]) => typeof value !== 'object');
    return { ...message, result: { ...Object.fromEntries(plain), ...EMPTY_RESULTS[waiting.method] } };
  }
}

const EMPTY_RESULTS: Readonly<Record<string, object>> = { 'tools/call': { content: [] }, 'tools/list': { tools: [] } };

function toKind(message: JSONRPCMessage): MessageKind {
  if (!('method' in message) || !('id' in message)) return 'notice';
  return message.method === 'subscriptions/listen' ? 'stream' : 'request';
}
