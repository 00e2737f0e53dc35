import { request as sendRequest, type IncomingHttpHeaders } from 'node:http';
import { createManualClock, type ManualClock } from '../base/clock.ts';
import { createIds } from '../base/ids.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { createManualSchedule } from '../base/manual-schedule.suite.ts';
import type { Credential, Credentials } from './auth/credential.ts';
import { createDoor, type Door, type DoorOptions } from './door.ts';
import type { RequestLogEntry } from './request-log.ts';

// A real server on loopback for tests, with time in hand.

export interface TestDoor {
  readonly door: Door;
  readonly store: Store;
  readonly clock: ManualClock;
  /** Time passes, and timers go off. */
  readonly advance: (ms: number) => void;
  readonly requests: RequestLogEntry[];
  readonly mishaps: unknown[];
  readonly send: (request: TestRequest) => Promise<TestAnswer>;
}

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Objects are sent as JSON, texts and bytes as they are. */
  readonly body?: object | string | Uint8Array;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // What tests look into, they compare with literals.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export type TestDoorOptions = Partial<DoorOptions>;

/** Runs with an open door, and closes it whatever happens. */
export async function withDoor(
  options: TestDoorOptions | ((store: Store, clock: ManualClock) => TestDoorOptions),
  run: (test: TestDoor) => Promise<void>,
): Promise<void> {
  const clock = createManualClock(Date.UTC(2026, 0, 1));
  const { schedule, advance } = createManualSchedule(clock);
  const store = createMemoryStore({ clock });
  const requests: RequestLogEntry[] = [];
  const mishaps: unknown[] = [];
  const given = typeof options === 'function' ? options(store, clock) : options;
  const door = await createDoor({
    routes: [],
    access: 'open',
    keys: store.keys,
    clock,
    schedule,
    ids: createIds({ now: clock.now, random: () => 0.5 }),
    log: { onRequest: (entry) => requests.push(entry), onMishap: (error) => mishaps.push(error) },
    ...given,
  });
  const send = (request: TestRequest) => sendTo(door, request);
  try {
    await run({ door, store, clock, advance, requests, mishaps, send });
  } finally {
    const closed = door.close();
    // What a test left open is not waited for.
    advance(1_000_000);
    await closed;
    await store.close();
  }
}

/** A request of Node, which hides nothing and adds nothing but the host. */
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
