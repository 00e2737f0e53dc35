import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { StreamEvent } from './model-api.ts';

/** Writes events as the real API does, and waits until the client has room for more. */
export async function sendEvents(
  response: ServerResponse,
  events: readonly StreamEvent[],
  signal: AbortSignal,
): Promise<void> {
  // An encoder may have nothing to send for what is due.
  if (events.length === 0) return;
  const text = events.map((event) => encodeEvent({ event: event.type, data: JSON.stringify(event) })).join('');
  if (!response.write(text)) await once(response, 'drain', { signal });
}

/** Drops the connection after everything that was written has left, so that the cut is where the script says. */
export async function cutConnection(response: ServerResponse): Promise<void> {
  if (response.headersSent) await new Promise((resolve) => response.write('', resolve));
  response.destroy();
}
