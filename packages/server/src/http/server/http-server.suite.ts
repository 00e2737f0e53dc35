import { request as sendRequest, type IncomingHttpHeaders } from 'node:http';
import { createManualClock, type ManualClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../../store/store.ts';
import { createManualSchedule } from '../../base/manual-schedule.suite.ts';
import type { Credential, Credentials } from '../../keys/credential.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './http-server.ts';
import type { RequestLogEntry } from '../../base/request-log.ts';

// A real server on loopback for tests, with a manual clock.

export interface TestHttpServer {
  readonly server: HttpServer;
  readonly store: Store;
  readonly clock: ManualClock;
  /** Advances the clock and runs the timers that are due. */
  readonly advance: (ms: number) => void;
  readonly requests: RequestLogEntry[];
  readonly errors: unknown[];
  readonly send: (request: TestRequest) => Promise<TestAnswer>;
}

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body: objects are sent as JSON, strings and bytes unchanged. */
  readonly body?: object | string | Uint8Array;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // Tests compare the fields they read with literals.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export type TestHttpServerOptions = Partial<HttpServerOptions>;

/** Runs a test with an open server, and closes the server in any case. */
export async function withHttpServer(
  options: TestHttpServerOptions | ((store: Store, clock: ManualClock) => TestHttpServerOptions),
  run: (test: TestHttpServer) => Promise<void>,
): Promise<void> {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const requests: RequestLogEntry[] = [];
  const errors: unknown[] = [];
  const given = typeof options === 'function' ? options(store, clock) : options;
  const server = await createHttpServer({
    routes: [],
    access: 'open',
    keys: store.keys,
    clock,
    schedule,
    ids: createIds({ now: clock.now, random: () => 0.5 }),
    log: { onRequest: (entry) => requests.push(entry), onError: (error) => errors.push(error) },
    ...given,
  });
  const send = (request: TestRequest) => sendTo(server, request);
  try {
    await run({ server, store, clock, advance, requests, errors, send });
  } finally {
    const closed = server.close();
    // Ends the grace period: requests that a test left open are not awaited.
    advance(1_000_000);
    await closed;
    await store.close();
  }
}

/** Sends a request with node:http, which adds only the host. */
export function sendTo({ port }: { port: number }, request: TestRequest): Promise<TestAnswer> {
  const { method = 'GET', path, headers = {}, body } = request;
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array);
  const bytes = isJson ? JSON.stringify(body) : body;
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { host: '127.0.0.1', port, method, path, agent: false, headers: headers as Record<string, string | string[]> },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJsonAnswer = response.headers['content-type'] === 'application/json';
          const json: unknown = isJsonAnswer && text !== '' ? JSON.parse(text) : undefined;
          resolve({ status: response.statusCode!, headers: response.headers, text, json });
        });
      },
    );
    sent.on('error', reject);
    sent.end(bytes);
  });
}

/** Secrets by name: `{ alice: { kind: 'api', … } }`. */
export function knownSecrets(known: Readonly<Record<string, Credential>>): Credentials {
  return { find: async (secret) => (Object.hasOwn(known, secret) ? known[secret] : undefined) };
}
