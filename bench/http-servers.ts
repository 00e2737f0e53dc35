import { type ChildProcess, fork } from 'node:child_process';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createIds, createLog, createMemoryStore, type SessionLog, systemClock } from '@fleetloom/server';
import { createEnvironments } from '../packages/server/src/environments/environments.ts';
import { createCatchUp } from '../packages/server/src/http/streams/catch-up.ts';
import { createHttpServer } from '../packages/server/src/http/server/http-server.ts';
import { createEnvironmentRoutes } from '../packages/server/src/http/routes/environments.ts';
import { createEventFeeds } from '../packages/server/src/http/feeds/event-feeds.ts';
import { createEventRoutes } from '../packages/server/src/http/routes/session-events.ts';
import { encodeWireEvent } from '../packages/server/src/http/streams/sse/event-encoder.ts';

/** A server with a stream that sends events on demand. */
export interface StreamServer {
  readonly port: number;
  /** The path of the stream. */
  readonly path: string;
  /** Sends this many events; the last one contains the mark. */
  emit(events: number, mark: string): Promise<void>;
  close(): Promise<void>;
}

/** Events sent between two checks of back-pressure: what sixteen agents write within one commit. */
const BURST = 16;

/** The stream of a session behind the real server, read from the log. Only the disk is left out: it has its own benchmarks. */
export async function openStreamServer(pace = BURST): Promise<StreamServer> {
  const store = createMemoryStore();
  const log = createLog({ store });
  const ids = createIds({ now: systemClock.now, random: Math.random });
  const onError = (error: unknown) => {
    throw error;
  };
  const catchUp = createCatchUp(systemClock);
  const feeds = createEventFeeds({ store, log, catchUp, clock: systemClock, ids, onError });
  // The bench sends no events to the session, so these services are never called.
  const none = undefined as never;
  const routes = createEventRoutes({ store, log, catchUp, feeds, sessions: none, files: none });
  const server = await createHttpServer({ routes, access: 'open', keys: store.keys });
  const sessionId = ids.next('sesn');
  await createSession(log, sessionId);
  const lease = await store.leases.acquire({ sessionId, owner: 'bench', ttlMs: 3_600_000 });
  const fence = lease.ok ? lease.fence : 0;
  return {
    port: server.port,
    path: `/v1/sessions/${sessionId}/events/stream`,
    emit: async (events, mark) => {
      const writes: Promise<unknown>[] = [];
      for (let index = 0; index < events; index++) {
        const payload = toMessage(ids.next('sevt'), index === events - 1 ? mark : '');
        const frame = { threadId: THREAD, turn: null, time: systemClock.now(), type: 'agent.message', payload };
        writes.push(log.append({ type: 'append', sessionId, fence, frames: [frame], changes: [] }));
        if (writes.length >= pace) await Promise.all(writes.splice(0));
      }
      await Promise.all(writes);
    },
    close: async () => {
      await server.close();
      await log.close();
      await store.close();
    },
  };
}

/** A bare server of Node that writes the same bytes, prepared beforehand. */
export async function openBareStreamServer(pace = BURST): Promise<StreamServer> {
  const readers = new Set<ServerResponse>();
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    readers.add(response);
    response.on('close', () => readers.delete(response));
  });
  const ids = createIds({ now: systemClock.now, random: Math.random });
  const encode = (mark: string) => encodeWireEvent(toWireEvent(ids.next('sevt'), mark));
  const ready = Array.from({ length: 1_000 }, () => encode(''));
  return {
    port: await listen(server),
    path: '/',
    emit: async (events, mark) => {
      const last = encode(mark);
      for (let index = 0; index < events; index++) {
        const bytes = index === events - 1 ? last : ready[index % ready.length]!;
        for (const reader of readers) reader.write(bytes);
        if (index % pace === 0) await Promise.all([nextTick(), ...[...readers].filter(isFull).map(drained)]);
      }
    },
    close: () => close(server),
  };
}

/** Length of the JSON of an event. */
export const EVENT_BYTES = 200;

/** The event of the message on the stream. */
function toWireEvent(id: string, mark: string) {
  const processed_at = '2026-01-01T00:00:00.000Z';
  return { type: 'agent.message', processed_at, ...toMessage(id, mark) };
}

function toMessage(id: string, mark: string) {
  return { id, content: [{ type: 'text', text: mark.padEnd(TEXT_CHARS, '.') }] };
}

/** Characters of the text that make the JSON 200 bytes long. */
const TEXT_CHARS = 59;

/** Two servers with the same small response: one reads a record, the other has the bytes ready. */
export async function openAnswerers(): Promise<{ server: Answerer; bare: Answerer; close: () => Promise<void> }> {
  const store = createMemoryStore();
  const ids = createIds({ now: systemClock.now, random: Math.random });
  const environments = createEnvironments({ store, clock: systemClock, ids });
  const environment = await environments.create('wrkspc_default', { name: 'here' });
  const routes = createEnvironmentRoutes(environments);
  const server = await createHttpServer({ routes, access: 'open', keys: store.keys });
  const text = JSON.stringify(environment);
  const bareServer = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.end(text);
  });
  const path = `/v1/environments/${environment.id}`;
  return {
    server: { port: server.port, path },
    bare: { port: await listen(bareServer), path },
    close: async () => {
      await server.close();
      await store.close();
      await close(bareServer);
    },
  };
}

export interface Answerer {
  readonly port: number;
  readonly path: string;
}

/** Clients in a process of their own. */
export class Clients {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(join(process.cwd(), 'bench', 'http-subscribers.mjs'), { stdio: 'inherit', execArgv: [] });
  }

  async subscribe({ port, path }: Answerer, count: number): Promise<void> {
    await this.#command({ type: 'subscribe', port, path, count }, 'open');
  }

  /** Resolves when every subscriber has received the last of this many events. */
  async receive(source: StreamServer, events: number, mark: string): Promise<void> {
    await this.#command({ type: 'round', mark }, 'ready');
    const done = this.#next('done');
    await source.emit(events, mark);
    await done;
  }

  async ask({ port, path }: Answerer, count: number, connections: number): Promise<void> {
    await this.#command({ type: 'ask', port, path, count, connections }, 'done');
  }

  async leave(): Promise<void> {
    await this.#command({ type: 'leave' }, 'left');
  }

  close(): void {
    this.#child.kill();
  }

  async #command(message: object, answer: string): Promise<void> {
    const answered = this.#next(answer);
    this.#child.send(message);
    await answered;
  }

  #next(type: string): Promise<void> {
    return new Promise((resolve) => {
      const listen = (message: unknown) => {
        if ((message as { type: string }).type !== type) return;
        this.#child.off('message', listen);
        resolve();
      };
      this.#child.on('message', listen);
    });
  }
}

const THREAD = 'sthr_1';

async function createSession(log: SessionLog, id: string): Promise<void> {
  const agent = { agentId: 'agent_1', agentVersion: 1, environmentId: 'env_1' };
  const data = { primary_thread_id: THREAD };
  const session = { workspaceId: 'wrkspc_default', id, ...agent, status: 'running' as const, createdAt: 0, data };
  await log.append({ type: 'create', session, frames: [], changes: [] });
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

function isFull(reader: ServerResponse): boolean {
  return reader.writableNeedDrain;
}

function drained(reader: ServerResponse): Promise<void> {
  return new Promise((resolve) => reader.once('drain', resolve));
}

function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
