import { type FleetEvent, type GateMode, isRepeat, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { openEvents } from './open-events.ts';
import { ResponseError } from './response-error.ts';
import { BackOff } from './watch-fleet-back-off.ts';
import { type WatchFleetCode, WatchFleetError } from './watch-fleet-error.ts';
import { limits } from './watch-fleet-limits.ts';
import { type Schedule, systemSchedule, waitFor } from './watch-fleet-schedule.ts';

/** Options of {@link watchFleet}. */
export interface WatchFleetOptions {
  /** The server, e.g. `http://127.0.0.1:4000`. A path before `/v1` is kept. */
  readonly url: string | URL;
  /** The session to watch; without it, all sessions that the key may see. */
  readonly session?: string;
  /** The cursor to resume after; without it, the stream starts at the beginning. */
  readonly after?: string;
  /** `live` skips past events. */
  readonly from?: 'live';
  /** Whether to wait for new events; if false, the watch ends after the events so far. */
  readonly follow?: boolean;
  /** Events that are omitted by default. */
  readonly include?: readonly ('thinking' | 'sessions')[];
  /** How the coordinator's text arrives while it may still delegate; the server's default is `strict`. */
  readonly gate?: GateMode;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  /** Ends the watch, also while it waits. */
  readonly signal?: AbortSignal;
  /** How often in a row connecting may fail before the watch fails; unlimited by default. */
  readonly retriesMax?: number;
  /** The longest event that is accepted; a longer one is reported as a `gap`. */
  readonly eventBytesMax?: number;
  /** Called when the state of the connection changes. */
  readonly onConnection?: (state: ConnectionState) => void;
  /** Replaces the platform's `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Random numbers from 0 to 1 and timers, for tests. */
  readonly random?: () => number;
  readonly schedule?: Schedule;
}

/** The state of the connection of a watch. */
export type ConnectionState =
  | { readonly type: 'connecting'; readonly attempt: number }
  /** The first byte has arrived. */
  | { readonly type: 'open' }
  /** The connection broke or ended, and is opened again after `waitMs`. `error` is undefined if the server ended it properly. */
  | { readonly type: 'waiting'; readonly attempt: number; readonly waitMs: number; readonly error: unknown };

/** Events of a fleet, for `for await`. Leaving the loop closes the connection. */
export interface FleetWatch extends AsyncIterableIterator<FleetEvent, void, undefined> {
  /** The cursor of the last event yielded: pass it as `after` to resume here. */
  readonly cursor: string | null;
  /** How many repeated events were skipped. */
  readonly repeats: number;
  next(): Promise<IteratorResult<FleetEvent, void>>;
  /** Ends the watch at once, also while it waits for an event. */
  return(): Promise<IteratorResult<FleetEvent, void>>;
  [Symbol.asyncIterator](): FleetWatch;
}

/**
 * Every event of a session, or of all sessions, each exactly once and in order, also when the connection breaks.
 *
 * It reconnects after the last event when a connection breaks, ends or is silent. It reads only when the caller asks for
 * the next event, so a slow consumer slows the server down and needs no memory here. It ends when the server ends it
 * (`over`, 204, or the end of the log with `follow: false`) or the signal aborts, and fails with a `WatchFleetError` if a
 * retry cannot help.
 *
 * @example
 * let slots = createSlots();
 * for await (const event of watchFleet({ url: 'http://127.0.0.1:4000', session })) slots = foldSlots(slots, event);
 */
export function watchFleet(options: WatchFleetOptions): FleetWatch {
  const end = new AbortController();
  const progress: Progress = { cursor: options.after ?? null, repeats: 0 };
  const events = watch(toRequest(options), options, progress, end);
  return {
    get cursor() {
      return progress.cursor;
    },
    get repeats() {
      return progress.repeats;
    },
    next: () => events.next(),
    return: () => {
      // Without the abort, the generator would wait for its pending event first.
      end.abort();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

interface Progress {
  cursor: string | null;
  repeats: number;
}

/** The options of all connections. Created at once, so that an invalid address or key fails in the caller's call. */
interface FleetRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

type Events<Return> = AsyncGenerator<FleetEvent, Return, undefined>;

/** Opens one connection after another, until the stream is over. */
async function* watch(
  request: FleetRequest,
  options: WatchFleetOptions,
  progress: Progress,
  end: AbortController,
): Events<void> {
  const { random = Math.random, schedule = systemSchedule, retriesMax = Number.POSITIVE_INFINITY } = options;
  const unlink = linkAbort(options.signal, end);
  const backOff = new BackOff(random);
  const connection = new Connection(request, options, progress, schedule);
  try {
    while (!end.signal.aborted) {
      options.onConnection?.({ type: 'connecting', attempt: backOff.attempt });
      const { isOver, error } = yield* connection.read(backOff, end.signal);
      if (isOver || end.signal.aborted) return;
      if (backOff.attempt >= retriesMax) throw new WatchFleetError('gave_up', statusOf(error), error ?? ended);
      const waitMs = backOff.next(connection.hintMs);
      options.onConnection?.({ type: 'waiting', attempt: backOff.attempt, waitMs, error });
      await waitFor(waitMs, schedule, end.signal);
    }
  } finally {
    unlink();
  }
}

/** How a connection ended. */
interface ConnectionEnd {
  /** Whether the stream is over: no events follow, also not on another connection. */
  readonly isOver: boolean;
  readonly error?: unknown;
}

/** Opens one connection at a time, and keeps the position at which the next one resumes. */
class Connection {
  readonly #request: FleetRequest;
  readonly #options: WatchFleetOptions;
  readonly #progress: Progress;
  readonly #schedule: Schedule;
  readonly #decoder: SseDecoder;
  /** For a stream of several sessions: the position of each, the most recently active one last. */
  readonly #places = new Map<string, string>();
  /** The `Retry-After` of the last response. */
  #retryAfterMs = 0;

  constructor(request: FleetRequest, options: WatchFleetOptions, progress: Progress, schedule: Schedule) {
    this.#request = request;
    this.#options = options;
    this.#progress = progress;
    this.#schedule = schedule;
    const { after: lastEventId = '', eventBytesMax } = options;
    this.#decoder = new SseDecoder({ lastEventId, ...(eventBytesMax !== undefined && { eventBytesMax }) });
  }

  /** The minimum wait that the server requests. */
  get hintMs(): number {
    return Math.max(this.#decoder.retryMs ?? 0, this.#retryAfterMs);
  }

  /** Yields the new events of one connection. Throws only errors that a retry cannot fix. */
  async *read(backOff: BackOff, signal: AbortSignal): Events<ConnectionEnd> {
    const abort = new AbortController();
    const unlink = linkAbort(signal, abort);
    const items = this.#open(abort.signal);
    let signsOfLife = 0;
    let isCut = false;
    try {
      for (;;) {
        const item = await this.#nextItem(items, abort, signal);
        // After an incomplete event, more events follow, even if the server ended the connection properly.
        if ('isOver' in item) return isCut ? { ...item, isOver: false } : item;
        isCut = item.type === 'cut';
        if (signsOfLife++ === 0) this.#options.onConnection?.({ type: 'open' });
        const event = this.#toEvent(item);
        // A first comment alone may come from a server that closes every connection at once.
        if (event !== undefined || signsOfLife > 1) backOff.reset();
        if (event !== undefined) yield event;
        if (event?.type === 'over' && this.#isOfAll(event)) return { isOver: true };
      }
    } finally {
      unlink();
      // Closing fails only if the connection is broken already, and that was reported.
      await items.return().catch(() => undefined);
      abort.abort();
    }
  }

  #open(signal: AbortSignal): AsyncGenerator<SseItem, void, undefined> {
    const { fetch = globalThis.fetch } = this.#options;
    this.#retryAfterMs = 0;
    // A repeated event does not move the cursor back. The decoder's id may be ahead: an id can arrive without an event.
    const { cursor } = this.#progress;
    if (cursor !== null && isRepeat(this.#decoder.lastEventId, cursor)) this.#decoder.lastEventId = cursor;
    const noting: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      this.#retryAfterMs = toMs(response.headers.get('retry-after'));
      return response;
    };
    const { headers } = this.#request;
    return openEvents(this.#url(), { headers, signal, fetch: noting, decoder: this.#decoder });
  }

  /** The URL, with the cursor to resume after: a proxy may drop the header. */
  #url(): URL {
    const url = new URL(this.#request.url);
    const { lastEventId } = this.#decoder;
    if (lastEventId === '') return url;
    url.searchParams.set('after', lastEventId);
    url.searchParams.delete('from');
    return url;
  }

  /** Whether `over` ends the whole stream, and not one session of several. */
  #isOfAll({ session_id: sessionId }: FleetEvent): boolean {
    return sessionId === undefined || this.#options.session !== undefined;
  }

  #isKnown({ cursor, session_id: sessionId }: FleetEvent): boolean {
    if (sessionId === undefined || this.#options.session !== undefined) return isRepeat(cursor, this.#progress.cursor);
    const last = this.#places.get(sessionId) ?? null;
    if (isRepeat(cursor, last)) return true;
    this.#places.delete(sessionId);
    this.#places.set(sessionId, cursor === '' ? (last ?? '') : cursor);
    const [oldest] = this.#places.keys();
    if (this.#places.size > limits.sessionsMax) this.#places.delete(oldest!);
    return false;
  }

  /** Reads the next item only when the caller waits for it, which gives backpressure against a fast server. */
  async #nextItem(
    items: AsyncGenerator<SseItem, void, undefined>,
    abort: AbortController,
    signal: AbortSignal,
  ): Promise<SseItem | ConnectionEnd> {
    const cancel = this.#schedule(() => abort.abort(new Error(silent)), limits.silenceMsMax);
    try {
      const { done, value } = await items.next();
      return done ? { isOver: this.#options.follow === false } : value;
    } catch (error) {
      return signal.aborted ? { isOver: true } : judge(error);
    } finally {
      cancel();
    }
  }

  #toEvent(item: SseItem): FleetEvent | undefined {
    const progress = this.#progress;
    switch (item.type) {
      case 'event': {
        const event = parseFleetEvent(item);
        if (this.#isKnown(event)) {
          progress.repeats++;
          return undefined;
        }
        // On a stream of several sessions, the event has the cursor of its session, and the id is the cursor of the stream.
        const place = this.#options.session === undefined ? item.id : event.cursor;
        if (place !== '') progress.cursor = place;
        return event;
      }
      case 'oversize': {
        const reason = `an event of ${item.bytes} bytes is longer than the limit of ${item.limit}`;
        const [after, until] = [progress.cursor ?? '', this.#decoder.lastEventId];
        return { type: 'gap', cursor: '', seq: null, ts: null, after, until, reason };
      }
      case 'comment':
      case 'cut':
        return undefined;
    }
  }
}

const silent = `the server has not sent anything for ${limits.silenceMsMax / 1000} s`;
const ended = new Error('the server ends every connection');

function toRequest({
  url: base,
  session,
  from,
  follow,
  include,
  gate,
  after,
  key,
  headers,
}: WatchFleetOptions): FleetRequest {
  const url = new URL(base);
  const folder = url.pathname.replace(/\/+$/, '');
  url.pathname = `${folder}/v1/${session === undefined ? 'fleet' : `sessions/${encodeURIComponent(session)}/fleet`}`;
  const query = { from: after === undefined ? from : undefined, follow: follow === false ? 'false' : undefined, gate };
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  for (const each of include ?? []) url.searchParams.append('include', each);
  const all = new Headers(headers);
  if (key !== undefined) all.set('authorization', `Bearer ${key}`);
  return { url, headers: Object.fromEntries(all) };
}

/** Aborts the controller with the signal, until the returned function is called. */
function linkAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}

/** What a failure means: the stream is over, a retry may help, or (thrown) it cannot. */
function judge(error: unknown): ConnectionEnd {
  if (!(error instanceof ResponseError)) return { isOver: false, error };
  const { status } = error;
  // The SSE standard's way to say "do not reconnect".
  if (status === 204) return { isOver: true };
  if (status >= 200 && status < 300) throw new WatchFleetError('not_a_stream', status, error);
  const isPassing = status < 400 || status >= 500 || [408, 425, 429].includes(status);
  if (!isPassing) throw new WatchFleetError(codes.get(status) ?? 'refused', status, error);
  return { isOver: false, error };
}

const codes = new Map<number, WatchFleetCode>([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [410, 'not_found'],
]);

function statusOf(error: unknown): number | null {
  return error instanceof ResponseError ? error.status : null;
}

function toMs(retryAfter: string | null): number {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : 0;
}
