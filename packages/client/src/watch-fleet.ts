import { type FleetEvent, type GateMode, isRepeat, parseFleetEvent } from '@fleetloom/protocol/fleet';
import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { openEvents } from './open-events.ts';
import { ResponseError } from './response-error.ts';
import { BackOff } from './watch-fleet-back-off.ts';
import { type WatchFleetCode, WatchFleetError } from './watch-fleet-error.ts';
import { limits } from './watch-fleet-limits.ts';
import { type Schedule, systemSchedule, waitFor } from './watch-fleet-schedule.ts';

export interface WatchFleetOptions {
  /** Of the server, e.g. `http://127.0.0.1:4000`. A path in front of `/v1` is kept. */
  readonly url: string | URL;
  /** The session to watch; without it, everything that the key may see. */
  readonly session?: string;
  /** The cursor behind which to begin; without it, at the beginning. */
  readonly after?: string;
  /** `live` leaves out what has happened before. */
  readonly from?: 'live';
  /** False: up to the present, then it is over. */
  readonly follow?: boolean;
  /** What is left out unless asked for. */
  readonly include?: readonly 'thinking'[];
  /** How text of a master arrives while it may yet delegate; the server's default is `strict`. */
  readonly gate?: GateMode;
  readonly key?: string;
  readonly headers?: Record<string, string>;
  /** Ends it, also while it waits. */
  readonly signal?: AbortSignal;
  /** How often in a row connecting may fail before it is given up; unless set, for ever. */
  readonly retriesMax?: number;
  /** The longest event that is taken; of a longer one a `gap` is told. */
  readonly eventBytesMax?: number;
  /** Told what becomes of the connection. */
  readonly onConnection?: (state: ConnectionState) => void;
  /** Used instead of the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
  /** Chance from 0 to 1 and timers, for tests. */
  readonly random?: () => number;
  readonly schedule?: Schedule;
}

export type ConnectionState =
  | { readonly type: 'connecting'; readonly attempt: number }
  /** The first sign of life has come. */
  | { readonly type: 'open' }
  /** It broke or ended, and is made again after a while. `error` is undefined if the server ended it properly. */
  | { readonly type: 'waiting'; readonly attempt: number; readonly waitMs: number; readonly error: unknown };

/** Events of a fleet, for `for await`. Leaving the loop closes the connection. */
export interface FleetWatch extends AsyncIterableIterator<FleetEvent, void, undefined> {
  /** Of the last event that was given out: what to pass as `after` to go on here another time. */
  readonly cursor: string | null;
  /** Events that came again and were left out. */
  readonly repeats: number;
  next(): Promise<IteratorResult<FleetEvent, void>>;
  /** Ends it at once, also while it waits for something to happen. */
  return(): Promise<IteratorResult<FleetEvent, void>>;
  [Symbol.asyncIterator](): FleetWatch;
}

/**
 * Every event of a session, or of all, each exactly once and in order, whatever becomes of the connection.
 *
 * A connection that breaks, ends or falls silent is made again behind the last event. Nothing is read from it before
 * somebody asks for the next event, so who is slow slows down the server's sending and costs no memory here. It is over
 * when the server says so (`over`, 204, or the present with `follow: false`) or the signal comes. It fails with a
 * `WatchFleetError` where trying again cannot help.
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
      // Without it, the generator would first wait for the event that it is waiting for.
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

/** What stays the same over all connections. Made at once, so that a wrong address or key is told to who passes it. */
interface FleetRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
}

type Events<Return> = AsyncGenerator<FleetEvent, Return, undefined>;

/** Connection after connection, until one of them is the last. */
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
  /** Nothing follows, on no other connection either. */
  readonly isOver: boolean;
  readonly error?: unknown;
}

/** One connection at a time; what it has learnt is where the next one goes on. */
class Connection {
  readonly #request: FleetRequest;
  readonly #options: WatchFleetOptions;
  readonly #progress: Progress;
  readonly #schedule: Schedule;
  readonly #decoder: SseDecoder;
  /** Of a stream of several sessions: where each of them is, the one that was heard of last at the end. */
  readonly #places = new Map<string, string>();
  /** What the last answer asked for with `Retry-After`. */
  #retryAfterMs = 0;

  constructor(request: FleetRequest, options: WatchFleetOptions, progress: Progress, schedule: Schedule) {
    this.#request = request;
    this.#options = options;
    this.#progress = progress;
    this.#schedule = schedule;
    const { after: lastEventId = '', eventBytesMax } = options;
    this.#decoder = new SseDecoder({ lastEventId, ...(eventBytesMax !== undefined && { eventBytesMax }) });
  }

  /** How long the server wants to be left alone at least. */
  get hintMs(): number {
    return Math.max(this.#decoder.retryMs ?? 0, this.#retryAfterMs);
  }

  /** The new events of one connection. It throws only what trying again cannot mend. */
  async *read(backOff: BackOff, signal: AbortSignal): Events<ConnectionEnd> {
    const abort = new AbortController();
    const unlink = linkAbort(signal, abort);
    const items = this.#open(abort.signal);
    let signsOfLife = 0;
    let isCut = false;
    try {
      for (;;) {
        const item = await this.#nextItem(items, abort, signal);
        // Where an event is cut off, there is more to come, whatever the server meant by ending.
        if ('isOver' in item) return isCut ? { ...item, isOver: false } : item;
        isCut = item.type === 'cut';
        if (signsOfLife++ === 0) this.#options.onConnection?.({ type: 'open' });
        const event = this.#toEvent(item);
        // A first comment alone may come from a server that ends every connection at once.
        if (event !== undefined || signsOfLife > 1) backOff.reset();
        if (event !== undefined) yield event;
        if (event?.type === 'over' && this.#isOfAll(event)) return { isOver: true };
      }
    } finally {
      unlink();
      // Closing fails only where the connection is broken already, and that has been told.
      await items.return().catch(() => undefined);
      abort.abort();
    }
  }

  #open(signal: AbortSignal): AsyncGenerator<SseItem, void, undefined> {
    const { fetch = globalThis.fetch } = this.#options;
    this.#retryAfterMs = 0;
    // What was repeated last does not move the place back. It may be ahead: an id can come without an event.
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

  /** Behind the last event, in the address too: whatever stands between may drop the header. */
  #url(): URL {
    const url = new URL(this.#request.url);
    const { lastEventId } = this.#decoder;
    if (lastEventId === '') return url;
    url.searchParams.set('after', lastEventId);
    url.searchParams.delete('from');
    return url;
  }

  /** Whether it ends everything, and not only one session of several. */
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

  /** Asked for only when somebody waits for it: this is all there is to holding back a server that is too fast. */
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
        // On a stream of several sessions the cursor is that of the session, and the id says where the stream is.
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
  if (include !== undefined && include.length > 0) url.searchParams.set('include', include.join(','));
  const all = new Headers(headers);
  if (key !== undefined) all.set('authorization', `Bearer ${key}`);
  return { url, headers: Object.fromEntries(all) };
}

/** Aborts one with the other, until it is told not to. */
function linkAbort(signal: AbortSignal | undefined, controller: AbortController): () => void {
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}

/** What a failure means: that it is over, that trying again may help, or (thrown) that it cannot. */
function judge(error: unknown): ConnectionEnd {
  if (!(error instanceof ResponseError)) return { isOver: false, error };
  const { status } = error;
  // What the standard of event streams has for "do not come back".
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
