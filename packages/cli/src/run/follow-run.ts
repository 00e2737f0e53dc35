import type { Done, FleetEvent, GateMode, RequestReceived } from '@fleetloom/protocol/fleet';
import { type FleetOptions, openFleet } from '../connection/open-fleet.ts';
import type { ServerApi } from '../connection/server-api.ts';
import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import type { EndingSignal } from '../until-signal.ts';

export interface RunToFollow {
  readonly first: RequestReceived;
  readonly gate: GateMode;
  readonly onEvent: (event: FleetEvent) => Promise<void> | void;
  /** Says something about the run that is no event of it. */
  readonly onNote: (text: string) => void;
  /** Chance and timers of the client, for tests. */
  readonly reconnect?: Pick<FleetOptions, 'random' | 'schedule'>;
}

/** How a run ended; undefined where its end was not waited for. */
export interface RunEnd {
  readonly done: Done | undefined;
}

/** Follows a run to its end. `asked` is how somebody ends it: it is cancelled, and its end is waited for (SPEC Y7). */
export async function followRun(io: Io, api: ServerApi, run: RunToFollow, asked: Asked): Promise<RunEnd> {
  const { first, gate, onEvent, onNote, reconnect = {} } = run;
  const leave = new AbortController();
  const undo = asked.onAsk((signal, times) => {
    if (times > 1) return leave.abort();
    onNote(`${signal === 'SIGINT' ? 'Ctrl-C' : signal}: the run is being cancelled; once more leaves at once.`);
    const cancelTimer = io.timers.after(limits.cancelMs, () => leave.abort());
    leave.signal.addEventListener('abort', cancelTimer);
    // One that is over by now cannot be cancelled, and its end is on the way.
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

/** Signals that ask for the end, those included which came before anybody listened. */
export interface Asked {
  readonly signal: EndingSignal | undefined;
  onAsk(handle: (signal: EndingSignal, times: number) => void): () => void;
}
