import { SseDecoder, type SseItem } from '@fleetloom/protocol/sse';
import { readEvents } from './read-events.ts';

export interface OpenEventsOptions {
  headers?: Record<string, string>;
  /** Ends the connection, before or after it is made; reading then fails with the signal's reason. */
  signal?: AbortSignal;
  /** Used instead of the platform's own. */
  fetch?: typeof globalThis.fetch;
  /** Of the connection before, to go on where that stopped: its `lastEventId` is sent along. */
  decoder?: SseDecoder;
}

/**
 * The items of an event stream. One connection, made when the first item is asked for and closed when reading stops.
 *
 * @example
 * const decoder = new SseDecoder();
 * for await (const item of openEvents('http://127.0.0.1:4000/events', { decoder })) show(item);
 * // Over or broken off: wait for decoder.retryMs, then the same call goes on after the last event.
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

/** Headers carry bytes, one per character. The standard of event streams wants UTF-8 in this one. */
function toBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
