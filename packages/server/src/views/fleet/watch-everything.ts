import { inBackground } from '../../base/in-background.ts';
import { viewLimits } from '../limits.ts';
import { EverythingWatch } from './everything-watch.ts';
import type { WatchEverything } from './watch-request.ts';

/**
 * All sessions of a workspace on one stream, until the reader leaves: open runs from their start and runs that begin later, each
 * exactly once, for any number of sessions and any speed of the reader. Each event has the cursor of its session. From time to
 * time an id without an event is sent: the cursor of the whole stream.
 */
export async function watchEverything(request: WatchEverything): Promise<void> {
  const { sink, isFollowed, schedule, onError } = request;
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
          .catch(onError)
          .then(() => sink.signal.aborted || lookLater()),
        onError,
      );
    }, viewLimits.fleetLookMs);
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
