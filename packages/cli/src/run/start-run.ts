import { readEvents } from '@fleetloom/client';
import { type GateMode, parseFleetEvent, type RequestReceived } from '@fleetloom/protocol/fleet';
import type { DirectoryResourceParams } from '@fleetloom/protocol/managed-agents';
import type { ServerApi } from '../connection/server-api.ts';
import { unreadableAnswer } from '../connection/server-errors.ts';

/** A run to start. */
export interface RunRequest {
  readonly message: string;
  readonly gate: GateMode;
  /** An agent by id or name, or a definition for this run only. */
  readonly agent: { readonly agent: string } | { readonly agent_def: object };
  /** The directory that the agents work on. */
  readonly resource?: DirectoryResourceParams | undefined;
}

/** Starts a run and returns its first event. The other events are read from the session, where a reconnect loses nothing. */
export async function startRun(
  api: ServerApi,
  { message, gate, agent, resource }: RunRequest,
): Promise<RequestReceived> {
  const stop = new AbortController();
  const response = await api.open('/v1/orchestrate', {
    method: 'POST',
    query: { gate },
    body: { message, ...agent, ...(resource === undefined ? {} : { resources: [resource] }) },
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
  throw unreadableAnswer(api.connection, 'the stream ended without an event');
}
