import { inBackground } from '../base/in-background.ts';
import type { Schedule } from '../base/schedule.ts';
import type { DatabaseWatch } from '../http/server/require-database.ts';
import type { Store } from '../store/store.ts';
import { compositionLimits } from './limits.ts';

/** The database to watch, and the receiver of outages and their end. */
export interface WatchOptions {
  readonly store: Pick<Store, 'now'>;
  readonly schedule: Schedule;
  readonly onProblem: (problem: unknown) => void;
}

/** Queries the database in the background, so that no request has to wait to find out that it is unreachable. */
export function watchDatabase({ store, schedule, onProblem }: WatchOptions): DatabaseWatch & { close(): void } {
  const handlers = new Set<() => void>();
  let isAway = false;
  let isClosed = false;
  let cancel = () => {};
  check();
  return {
    get isAway() {
      return isAway;
    },
    onAway: (handler) => {
      // A separate function: the same handler may be added twice.
      const own = () => handler();
      handlers.add(own);
      return () => void handlers.delete(own);
    },
    close: () => {
      isClosed = true;
      cancel();
    },
  };

  function check(): void {
    let isOver = false;
    const finish = (isThere: boolean) => {
      if (isClosed) return;
      // A response after the limit also shows that the database is reachable.
      if (isThere || !isOver) note(isThere);
      if (isOver) return;
      isOver = true;
      cancel();
      cancel = schedule(check, compositionLimits.readyEveryMs);
    };
    // After the event loop was blocked, a response that has arrived in the meantime is read before the limit applies.
    cancel = schedule(() => setImmediate(() => finish(false)), compositionLimits.readyMs);
    inBackground(
      store.now().then(
        () => finish(true),
        () => finish(false),
      ),
      onProblem,
    );
  }

  function note(isThere: boolean): void {
    if (isThere !== isAway) return;
    isAway = !isThere;
    onProblem(new Error(isAway ? LOST : 'the database can be reached again'));
    if (isAway) for (const handler of handlers) handler();
  }
}

const LOST = 'the database cannot be reached: requests are rejected with 503 database_unavailable until it can';
