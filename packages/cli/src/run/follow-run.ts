import type { Done, FleetEvent, GateMode, RequestReceived } from '@fleetloom/protocol/fleet';
import { type FleetOptions, openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import type { EndingSignal } from '../base/until-signal.ts';

/** A run and what to do with its events. */
export interface RunToFollow {
  readonly first: RequestReceived;
  readonly gate: GateMode;
  readonly onEvent: (event: FleetEvent) => Promise<void> | void;
  /** Shows a note that is not an event. */
  readonly onNote: (text: string) => void;
  /** Random numbers and timers of the client, for tests. */
  readonly reconnect?: Pick<FleetOptions, 'random' | 'schedule'>;
}

/** How a run ended; `done` is undefined if its end was not awaited. */
export interface RunEnd {
  readonly done: Done | undefined;
}

/** Follows a run to its end. A stop signal cancels the run and waits for its end; a second one returns at once (SPEC Y7). */
export async function followRun(io: Io, api: ServerApi, run: RunToFollow, stop: StopRequests): Promise<RunEnd> {
  const { first, gate, onEvent, onNote, reconnect = {} } = run;
  const leave = new AbortController();
  const undo = stop.onRequest((signal, times) => {
    if (times > 1) return leave.abort();
    onNote(`${signal === 'SIGINT' ? 'Ctrl-C' : signal}: cancelling the run; repeat to exit at once.`);
    const cancelTimer = io.timers.after(limits.cancelMs, () => leave.abort());
    leave.signal.addEventListener('abort', cancelTimer);
    // A run that has just ended cannot be cancelled; its end is about to arrive.
    api.post(`/v1/requests/${first.request_id}/cancel`, {}).catch(() => undefined);
  });
  try {
    await onEvent(first);
    const events = openFleet(api.connection, {
      session: first.session_id,
      after: first.cursor,
      gate,
      include: ['thinking'],
      signal: leave.signal,
      retriesMax: limits.runRetriesMax,
      ...reconnect,
    });
    for await (const event of events) {
      await onEvent(event);
      if (event.type === 'done' && event.request_id === first.request_id) return { done: event };
    }
    return { done: undefined };
  } finally {
    undo();
    leave.abort();
  }
}

/** Signals that ask the command to exit, including those that arrived before a listener was added. */
export interface StopRequests {
  readonly signal: EndingSignal | undefined;
  onRequest(handle: (signal: EndingSignal, times: number) => void): () => void;
}
