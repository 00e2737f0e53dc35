import { readPages } from '../store/read-pages.ts';
import { logLimits } from '../log/limits.ts';
import { storeLimits } from '../store/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import { writeStateCheckpoint } from '../sessions/index.ts';
import { Checkpointer } from '../log/checkpointer.ts';
import { createLog, type SessionLog } from '../log/log.ts';
import type { Store } from '../store/store.ts';
import { writeFleetCheckpoints } from '../views/fleet/write-checkpoints.ts';

/** The log, with its writer of checkpoints. */
export interface OpenedLog {
  /** The log. Closing it also stops writing checkpoints. */
  readonly log: SessionLog;
  /** Requests checkpoints for long open runs without them, for example because an older version wrote their logs. */
  readonly catchUp: (workspaceIds: readonly string[]) => Promise<void>;
  /** Called when a reader folded a long log. Requests checkpoints, so that the next reader does not have to. */
  readonly onLong: (sessionId: string, head: number) => void;
}

/** The log of a server, with checkpoints of its folds written in the background. */
export function openLog(store: Store, onProblem: (error: unknown) => void): OpenedLog {
  const tooLarge = new Map<string, number>();
  const checkpointer = new Checkpointer({
    folds: [
      (request) => writeFleetCheckpoints({ store, ...request }),
      (request) => writeStateCheckpoint({ store, ...request, tooLarge }),
    ],
    onProblem,
  });
  const log = createLog({ store, onAppended: (sessionId, head) => checkpointer.note(sessionId, head) });
  const unsubscribe = store.subscribe((signals) => {
    for (const { type, sessionId } of signals) {
      if (type !== 'deleted') continue;
      checkpointer.forget(sessionId);
      tooLarge.delete(sessionId);
    }
  });
  const closing = new AbortController();
  let catchingUp: Promise<void> = Promise.resolve();
  return {
    log: {
      ...log,
      close: async () => {
        closing.abort();
        await log.close();
        unsubscribe();
        await catchingUp.catch(() => undefined);
        await checkpointer.close();
      },
    },
    catchUp: (workspaceIds) => {
      catchingUp = requestForOpenRuns({ store, workspaceIds, checkpointer, signal: closing.signal });
      return catchingUp;
    },
    onLong: (sessionId, head) => checkpointer.request(sessionId, head),
  };
}

interface RequestForOpenRuns {
  readonly store: Store;
  readonly workspaceIds: readonly string[];
  readonly checkpointer: Checkpointer;
  readonly signal: AbortSignal;
}

async function requestForOpenRuns({ store, workspaceIds, checkpointer, signal }: RequestForOpenRuns): Promise<void> {
  for (const workspaceId of workspaceIds) {
    // The log may have been closed before the catch-up starts; the store may be closed by then.
    if (signal.aborted) return;
    const request = { workspaceId, isOpen: true, limit: storeLimits.recordPageItemsMax } as const;
    for await (const runs of readPages((from) => store.runs.list({ ...request, ...from }))) {
      const heads = await store.heads(runs.map(({ sessionId }) => sessionId));
      for (const { sessionId, firstSeq } of runs) {
        const head = heads.get(sessionId) ?? 0;
        if (head - firstSeq >= logLimits.checkpointFrames) checkpointer.request(sessionId, head);
      }
      await yieldToEventLoop();
      if (signal.aborted) return;
    }
  }
}
