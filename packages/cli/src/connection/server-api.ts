import { ServerClock } from '@fleetloom/client';
import { limits } from '../base/limits.ts';
import type { Connection } from './connection.ts';
import { toAnswerError, toFetchError, unreadableAnswer } from './server-errors.ts';

/** HTTP requests to a server. Failures are thrown as `CommandError` with a fix. */
export interface ServerApi {
  readonly connection: Connection;
  /** The time on the server, estimated from its responses. */
  readonly clock: ServerClock;
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body: object): Promise<Answer>;
  /** Uploads a file as multipart form data. */
  upload<Answer>(path: string, form: FormData): Promise<Answer>;
  /** The items of all pages; the next page is requested when the previous one is used up. */
  list<Item>(path: string, query?: Query): AsyncGenerator<Item, void, undefined>;
  /** A response whose body the caller reads, without a time limit other than the signal. */
  open(path: string, init?: OpenInit): Promise<Response>;
}

/** Query parameters; a list is sent as `name[]`. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** A request of `open`. */
export interface OpenInit {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON, unless it is FormData. */
  readonly body?: object;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Creates the client of one server. */
export function createServerApi(
  connection: Connection,
  callMs: number = limits.callMs,
  now: () => number = Date.now,
): ServerApi {
  const clock = new ServerClock();
  const open = async (path: string, init: OpenInit = {}): Promise<Response> => {
    const sentAtMs = now();
    const response = await fetch(toUrl(connection, path, init.query), toRequest(connection, init)).catch(
      (error: unknown) => {
        throw toFetchError(connection, error);
      },
    );
    clock.sawAnswer(response.headers.get('date'), sentAtMs, now());
    if (!response.ok) throw await toAnswerError(connection, response);
    return response;
  };
  /** The response is cast: its shape is the wire contract, which the tests of the server check. */
  const call = async <Answer>(path: string, init: OpenInit): Promise<Answer> => {
    const response = await open(path, { ...init, signal: AbortSignal.timeout(callMs) });
    try {
      return (await response.json()) as Answer;
    } catch (error) {
      throw unreadableAnswer(connection, error);
    }
  };

  return {
    connection,
    clock,
    open,
    get: (path, query = {}) => call(path, { query }),
    post: (path, body) => call(path, { method: 'POST', body }),
    upload: (path, form) => call(path, { method: 'POST', body: form }),
    list: async function* <Item>(path: string, query: Query = {}) {
      let page: string | undefined;
      do {
        const answer: Page<Item> = await call(path, { query: { ...query, page } });
        yield* answer.data;
        page = answer.next_page ?? undefined;
      } while (page !== undefined);
    },
  };
}

interface Page<Item> {
  readonly data: readonly Item[];
  readonly next_page: string | null;
}

function toUrl({ url: base }: Connection, path: string, query: Query = {}): URL {
  const url = new URL(`${base}${path}`);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    // Lists as the official clients send them.
    if (typeof value === 'object') for (const each of value) url.searchParams.append(`${name}[]`, each);
    else url.searchParams.set(name, String(value));
  }
  return url;
}

function toRequest({ key }: Connection, { method = 'GET', body, headers, signal }: OpenInit): RequestInit {
  const isForm = body instanceof FormData; // fetch sets its content type
  return {
    method,
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
}
