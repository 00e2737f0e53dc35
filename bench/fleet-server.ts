import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FleetEvent, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder } from '@fleetloom/protocol/sse';
import { startServer } from '@fleetloom/server';
import { type BenchRun, type BenchWork, Book, createBenchEngine, DELTA } from './sessions-fleet.ts';

/** A whole server on a file, with an engine that the bench controls, and readers over HTTP. */
export interface BenchServer {
  readonly port: number;
  /** The work of the runs that clients start from now on. */
  prepare(work: BenchWork): void;
  /** Runs one request in which a coordinator delegates to this many agents at once; one client reads it to its end. */
  run(agents: number, work: BenchWork): Promise<void>;
  /** As `run`, with a client that checks every event without keeping it. */
  measure(agents: number, work: BenchWork): Promise<BenchRun>;
  runAndLook(agents: number, work: BenchWork): Promise<BenchRun & { readonly events: readonly FleetEvent[] }>;
  /** Cancels a run while this many agents write, and measures the time to the end of its stream. */
  cancel(agents: number): Promise<{ readonly tookMs: number; readonly events: readonly FleetEvent[] }>;
  /** Opens streams of an ended session, and returns a function that closes them. */
  openStreams(count: number): Promise<() => void>;
  close(): Promise<void>;
}

export async function openBenchServer(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  let book = new Book(0, { deltas: 0 });
  const engine = createBenchEngine(() => book);
  const server = await startServer({ dataDirectory: folder, isOpen: true, engine });
  const { port } = server;
  for (const name of ['worker', 'lead']) await post(port, '/v1/agents', { name, model: 'bench' }).then(readAll);
  const task = { agent: 'lead', message: 'Begin.' };
  const look = async (agents: number, work: BenchWork, onEvent: (event: FleetEvent) => void): Promise<BenchRun> => {
    book = new Book(agents, work);
    for await (const event of readEvents(await post(port, '/v1/orchestrate', task))) {
      onEvent(event);
      if (event.type === 'text' && event.depth > 0) book.seen(event.thread_id!, event.delta, performance.now());
    }
    return book.toRun();
  };
  return {
    port,
    prepare: (work) => {
      book = new Book(1, work);
    },
    run: async (agents, work) => {
      book = new Book(agents, work);
      await readAll(await post(port, '/v1/orchestrate', task));
    },
    measure: (agents, work) => look(agents, work, () => {}),
    runAndLook: async (agents, work) => {
      const events: FleetEvent[] = [];
      const run = await look(agents, work, (event) => events.push(event));
      return { ...run, events };
    },
    cancel: async (agents) => {
      // Enough deltas to write for minutes.
      book = new Book(agents, { deltas: 20_000, perSecond: 50 });
      const events: FleetEvent[] = [];
      const speaking = new Set<string | null>();
      let cancelledAt: number | undefined;
      for await (const event of readEvents(await post(port, '/v1/orchestrate', task))) {
        events.push(event);
        if (event.type === 'text' && event.depth > 0) speaking.add(event.thread_id);
        if (speaking.size < agents || cancelledAt !== undefined) continue;
        cancelledAt = performance.now();
        const id = events.find((each) => each.type === 'request_received')!.request_id;
        void post(port, `/v1/requests/${id}/cancel`, {}).then(readAll);
      }
      return { tookMs: performance.now() - cancelledAt!, events };
    },
    openStreams: async (count) => {
      book = new Book(1, { deltas: 1 });
      const answer = await readAll(await post(port, '/v1/orchestrate', task));
      const sessionId = /sesn_\w+/.exec(answer)![0];
      const open = () => send(port, 'GET', `/v1/sessions/${sessionId}/fleet`);
      const responses = await Promise.all(Array.from({ length: count }, open));
      // Each stream has delivered all events.
      await Promise.all(responses.map(readDone));
      return () => responses.forEach((response) => response.destroy());
    },
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export interface BareServer {
  /** Writes this many frames to one client, and resolves when the client has read them. */
  write(frames: number): Promise<void>;
  close(): Promise<void>;
}

/** A bare server of Node, without anything between a model and a socket. */
export async function openBareServer(frames: readonly string[]): Promise<BareServer> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    void writeFrames(response, frames, Number(request.url?.slice(1)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    write: async (count) => void (await readAll(await send(port, 'GET', `/${count}`))),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function writeFrames(response: ServerResponse, frames: readonly string[], count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const hasRoom = response.write(frames[index % frames.length]!);
    if (!hasRoom) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end();
}

/** The frames of a fleet stream in which each agent in turn writes one delta. */
export async function toFrames(server: BenchServer, agents: number): Promise<string[]> {
  const { events } = await server.runAndLook(agents, { deltas: 1 });
  return events
    .filter((event) => event.type === 'text' && event.depth > 0 && event.delta === DELTA)
    .map((event) => `id: ${event.cursor}\nevent: text\ndata: ${JSON.stringify(event)}\n\n`);
}

function post(port: number, path: string, body: object): Promise<IncomingMessage> {
  return send(port, 'POST', path, JSON.stringify(body));
}

function send(port: number, method: string, path: string, body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const request = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

async function readDone(response: IncomingMessage): Promise<void> {
  let text = '';
  await new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('event: done')) resolve();
    });
    response.on('error', () => {});
  });
}

async function* readEvents(response: IncomingMessage): AsyncGenerator<FleetEvent> {
  const decoder = new SseDecoder();
  for await (const chunk of response) {
    for (const item of decoder.push(chunk as Buffer)) if (item.type === 'event') yield parseFleetEvent(item);
  }
}
