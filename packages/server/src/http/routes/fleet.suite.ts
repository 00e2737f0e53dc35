import { mkdtempSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as sendRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetEvent, type KnownFleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { type FleetloomServer, type ServerOptions, startServer } from '../../server.ts';

// A real server on loopback with the scripted model, and readers of its fleet streams.

export type EventOf<Type extends FleetEvent['type']> = Extract<KnownFleetEvent, { type: Type }>;

/** A script of the scripted model. */
export type Script = { readonly turns: readonly (readonly object[])[]; readonly usage?: object };

export interface FleetServer {
  readonly server: FleetloomServer;
  readonly directory: string;
  readonly problems: unknown[];
  /** Creates an agent that plays a script for every message. */
  agent(name: string, script?: Script, more?: object): Promise<string>;
  call(method: string, path: string, body?: object, headers?: Record<string, string>): Promise<CallAnswer>;
  orchestrate(body: object, options?: OpenOptions): Promise<FleetReader>;
  watch(path: string, options?: OpenOptions): Promise<FleetReader>;
  close(): Promise<void>;
}

export interface CallAnswer {
  readonly status: number;
  // Tests compare the fields they read with literals.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export interface OpenOptions {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openFleetServer(options: Partial<ServerOptions> = {}): Promise<FleetServer> {
  const directory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'fleetloom-fleet-'));
  const problems: unknown[] = [];
  const onProblem = (problem: unknown) => problems.push(problem);
  const server = await startServer({ isOpen: true, onProblem, ...options, dataDirectory: directory });
  return {
    ...connectTo(server),
    server,
    directory,
    problems,
    close: async () => {
      await server.close();
      if (options.dataDirectory === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Requests to a server on this port. */
export function connectTo({ port }: { readonly port: number }) {
  const call: FleetServer['call'] = async (method, path, body, headers = {}) => {
    const response = await send({ port, method, path, headers }, body);
    const text = await readAll(response);
    return { status: response.statusCode!, json: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  return {
    call,
    agent: async (name: string, script?: Script, more: object = {}) => {
      const system = script === undefined ? {} : { system: toScript(script) };
      const { status, json } = await call('POST', '/v1/agents', { name, model: 'scripted/echo', ...system, ...more });
      if (status !== 200) throw new Error(JSON.stringify(json));
      return (json as { id: string }).id;
    },
    orchestrate: (body: object, { query = {}, headers = {} }: OpenOptions = {}) =>
      openReader({ port, method: 'POST', path: withQuery('/v1/orchestrate', query), headers }, body),
    watch: (path: string, { query = {}, headers = {} }: OpenOptions = {}) =>
      openReader({ port, method: 'GET', path: withQuery(path, query), headers }),
  };
}

export function toScript(script: Script): string {
  return `<script>${JSON.stringify(script).replaceAll('<', '\\u003c')}</script>`;
}

/** A `/parallel` block. */
export function parallel(...children: readonly (readonly [agent: string, message: string])[]): string {
  const lines = children.map(([agent, message]) => `/agent ${agent} ${message}`);
  return ['/parallel', ...lines, '/endparallel', ''].join('\n');
}

/** Reads a fleet stream without pause, and keeps all events. */
export class FleetReader {
  readonly events: FleetEvent[] = [];
  /** All ids on the wire, also ids without an event. */
  readonly ids: string[] = [];
  readonly comments: string[] = [];
  /** The arrival time of each event. */
  readonly times: number[] = [];
  readonly #request: ClientRequest;
  readonly #response: IncomingMessage;
  readonly #decoder = new SseDecoder();
  readonly ended: Promise<void>;
  #waiting: { readonly isMet: () => boolean; readonly resolve: () => void }[] = [];
  bytes = 0;
  isEnded = false;

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.#response = response;
    this.ended = new Promise((resolve) => {
      response.on('data', (chunk: Buffer) => this.#take(chunk));
      response.on('error', () => {});
      response.on('close', () => {
        this.isEnded = true;
        this.#wake();
        resolve();
      });
    });
  }

  get lastId(): string {
    return this.#decoder.lastEventId;
  }

  /** All events until the server ends the stream. */
  async all(): Promise<FleetEvent[]> {
    await this.ended;
    return this.events;
  }

  /** The first matching event, received before or after this call. */
  async until(isWanted: (event: FleetEvent) => boolean): Promise<FleetEvent> {
    await this.met(() => this.isEnded || this.events.some(isWanted));
    const found = this.events.find(isWanted);
    if (found === undefined)
      throw new Error(`the stream ended without a matching event: ${JSON.stringify(this.events.slice(-3))}`);
    return found;
  }

  untilType<Type extends KnownFleetEvent['type']>(type: Type): Promise<EventOf<Type>> {
    return this.until((event) => event.type === type) as Promise<EventOf<Type>>;
  }

  met(isMet: () => boolean): Promise<void> {
    if (isMet()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ isMet, resolve }));
  }

  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  /** Destroys the connection. */
  kill(): void {
    this.#request.destroy();
    this.#response.destroy();
  }

  #take(chunk: Buffer): void {
    this.bytes += chunk.length;
    for (const item of this.#decoder.push(chunk)) {
      if (item.type === 'comment') this.comments.push(item.text);
      if (item.type !== 'event') continue;
      this.events.push(parseFleetEvent(item));
      this.ids.push(item.id);
      this.times.push(performance.now());
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) {
      if (each.isMet() || this.isEnded) each.resolve();
      else this.#waiting.push(each);
    }
  }
}

export function ofType<Type extends KnownFleetEvent['type']>(
  events: readonly FleetEvent[],
  type: Type,
): EventOf<Type>[] {
  return events.filter((event): event is EventOf<Type> => event.type === type);
}

/** The events of one turn. */
export function ofStream(events: readonly FleetEvent[], streamId: number): FleetEvent[] {
  return events.filter((event) => streamIdOf(event) === streamId);
}

export function streamIdOf(event: FleetEvent): number | undefined {
  return 'stream_id' in event ? event.stream_id : undefined;
}

/** The whole text of a turn. */
export function textOf(events: readonly FleetEvent[], streamId: number): string {
  let text = '';
  for (const event of ofStream(events, streamId)) {
    if (event.type === 'text') text += event.delta;
    if (event.type === 'text_retract') text = text.slice(0, event.from);
  }
  return text;
}

/** A short form such as `stream_end 1 false`, to compare orders. */
export function toLine(event: FleetEvent): string {
  const parts = [event.type, streamIdOf(event), 'ok' in event ? event.ok : undefined];
  return parts.filter((part) => part !== undefined).join(' ');
}

interface Sent {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

function send({ port, method, path, headers }: Sent, body?: object, onRequest?: (request: ClientRequest) => void) {
  return new Promise<IncomingMessage>((resolve, reject) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = { host: '127.0.0.1', port, method, path, agent: false as const, headers: { ...json, ...headers } };
    const sent = sendRequest(options, resolve);
    sent.on('error', reject);
    onRequest?.(sent);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function openReader(request: Sent, body?: object): Promise<FleetReader> {
  let sent!: ClientRequest;
  const response = await send(request, body, (made) => (sent = made));
  if (response.statusCode !== 200) throw new Error(`${response.statusCode} ${await readAll(response)}`);
  return new FleetReader(sent, response);
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}
