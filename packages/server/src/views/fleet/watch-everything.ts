import type { Clock } from '../../base/clock.ts';
import { inBackground } from '../../base/in-background.ts';
import { limits } from '../../base/limits.ts';
import type { Schedule } from '../../base/schedule.ts';
import { EverythingWatch } from './everything-watch.ts';
import type { FleetChannels } from './fleet-channels.ts';
import type { FleetToken } from './fleet-token.ts';
import type { FleetViewOptions } from './fleet-view.ts';

/** Where the events go. */
export interface FleetSink {
  readonly signal: AbortSignal;
  /** False: wait for `room` before giving more. */
  send(bytes: Uint8Array): boolean;
  room(): Promise<void>;
}

export interface WatchEverything {
  readonly channels: FleetChannels;
  readonly workspaceId: string;
  readonly options: FleetViewOptions;
  /** Where the reader is; null: it has nothing. */
  readonly token: FleetToken | null;
  /** Without what has happened before. */
  readonly isLive: boolean;
  readonly isFollowed: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly sink: FleetSink;
  readonly onMishap: (error: unknown) => void;
  /** Sessions that are followed at the same time. */
  readonly watchedMax?: number;
}

/**
 * All sessions of a workspace on one stream, until the reader leaves: open runs from their start and runs that begin later, each
 * exactly once, whatever their number and however slowly the reader reads. Each event has the cursor of its session, and now and
 * then an id without an event is the cursor of the whole stream.
 */
export async function watchEverything(request: WatchEverything): Promise<void> {
  const { sink, isFollowed, schedule, onMishap } = request;
  const watch = new EverythingWatch(request);
  const unsubscribe = request.channels.store.subscribe((signals) => {
    for (const signal of signals) {
      if (signal.type === 'frames') watch.notice(signal.sessionId, signal.head);
      else if (signal.type === 'deleted') watch.noticeDeleted(signal.sessionId);
    }
  });
  let cancelLook = () => {};
  /** Signals can be lost. The periodic look finds what they missed. */
  const lookLater = () => {
    cancelLook = schedule(() => {
      inBackground(
        watch
          .look()
          .catch(onMishap)
          .then(() => sink.signal.aborted || lookLater()),
        onMishap,
      );
    }, limits.fleetLookMs);
  };
  try {
    await watch.begin();
    if (!isFollowed) return await watch.readAll();
    lookLater();
    await aborted(sink.signal);
  } finally {
    unsubscribe();
    cancelLook();
    watch.end();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
