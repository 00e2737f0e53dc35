import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { StreamEvent } from './model-api.ts';

/** Writes events in the format of the real API, and waits until the client has read enough. */
export async function sendEvents(
  response: ServerResponse,
  events: readonly StreamEvent[],
  signal: AbortSignal,
): Promise<void> {
  // An encoder may have nothing to send for these events.
  if (events.length === 0) return;
  const text = events.map((event) => encodeEvent({ event: event.type, data: JSON.stringify(event) })).join('');
  if (!response.write(text)) await once(response, 'drain', { signal });
}

/** Destroys the connection after all written bytes were sent, so that the cut is at the position in the script. */
export async function cutConnection(response: ServerResponse): Promise<void> {
  if (response.headersSent) await new Promise((resolve) => response.write('', resolve));
  response.destroy();
}
