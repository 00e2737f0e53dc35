import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { readEvents } from './read-events.ts';

/** Options of {@link openEvents}. */
export interface OpenEventsOptions {
  headers?: Record<string, string>;
  /** Closes the connection, also before it is opened; reading then fails with the signal's reason. */
  signal?: AbortSignal;
  /** Replaces the platform's `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** The decoder of the previous connection, to resume where it stopped: its `lastEventId` is sent. */
  decoder?: SseDecoder;
}

/**
 * The items of an event stream. One connection, opened when the first item is asked for and closed when reading stops.
 *
 * @example
 * const decoder = new SseDecoder();
 * for await (const item of openEvents('http://127.0.0.1:4000/events', { decoder })) show(item);
 * // Ended or broken: wait for decoder.retryMs, then the same call resumes after the last event.
 */
export async function* openEvents(
  url: string | URL,
  options: OpenEventsOptions = {},
): AsyncGenerator<SseItem, void, undefined> {
  const { fetch = globalThis.fetch, signal, decoder = new SseDecoder() } = options;
  const headers = toHeaders(options.headers, decoder.lastEventId);
  const init: RequestInit = { headers, cache: 'no-store', ...(signal && { signal }) };
  yield* readEvents(await fetch(url, init), decoder);
}

function toHeaders(given: Record<string, string> | undefined, lastEventId: string): Headers {
  const headers = new Headers(given);
  if (!headers.has('accept')) headers.set('accept', 'text/event-stream');
  if (lastEventId !== '' && !headers.has('last-event-id')) headers.set('last-event-id', toBytes(lastEventId));
  return headers;
}

/** A header value has one byte per character; the SSE standard wants UTF-8 in this one. */
function toBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
