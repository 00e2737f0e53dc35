import { ServerClock } from '@fleetloom/client';
import { limits } from '../limits.ts';
import type { Connection } from './connection.ts';
import { toAnswerError, toFetchError, unreadableAnswer } from './server-errors.ts';

/** Calls to a server. What goes wrong comes out as a `CommandError` that says what to do. */
export interface ServerApi {
  readonly connection: Connection;
  /** What time it is there, learnt from its answers. */
  readonly clock: ServerClock;
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body: object): Promise<Answer>;
  /** Files travel as forms do. */
  upload<Answer>(path: string, form: FormData): Promise<Answer>;
  /** The items of all pages, the next page asked for when the one before is used up. */
  list<Item>(path: string, query?: Query): AsyncGenerator<Item, void, undefined>;
  /** An answer that is read by the caller. Takes as long as the signal lets it. */
  open(path: string, init?: OpenInit): Promise<Response>;
}

export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

export interface OpenInit {
  readonly method?: 'GET' | 'POST';
  /** JSON, unless it is a form. */
  readonly body?: object;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

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
  /** The casts of the answers: what these paths answer is the wire contract, which the server's own tests check. */
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
    // A list is sent as the official clients send it.
    if (typeof value === 'object') for (const each of value) url.searchParams.append(`${name}[]`, each);
    else url.searchParams.set(name, String(value));
  }
  return url;
}

function toRequest({ key }: Connection, { method = 'GET', body, headers, signal }: OpenInit): RequestInit {
  const isForm = body instanceof FormData; // which brings its own content type
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
