import { readEvents } from '@fleetloom/client';
import { type GateMode, parseFleetEvent, type RequestReceived } from '@fleetloom/protocol/fleet';
import type { ServerApi } from '../connection/server-api.ts';
import { unreadableAnswer } from '../connection/server-errors.ts';

export interface RunRequest {
  readonly message: string;
  readonly gate: GateMode;
  /** By id or name, or a definition for this run alone. */
  readonly agent: { readonly agent: string } | { readonly agent_def: object };
}

/** Begins a run. Gives its first event; the rest is read from the session, where a broken connection loses nothing. */
export async function startRun(api: ServerApi, { message, gate, agent }: RunRequest): Promise<RequestReceived> {
  const stop = new AbortController();
  const response = await api.open('/v1/orchestrate', {
    method: 'POST',
    query: { gate },
    body: { message, ...agent },
    signal: stop.signal,
  });
  try {
    for await (const item of readEvents(response)) {
      const event = item.type === 'event' ? parseFleetEvent(item) : undefined;
      if (event?.type === 'request_received') return event;
    }
  } finally {
    stop.abort();
  }
  throw unreadableAnswer(api.connection, 'the stream ended before it began');
}
