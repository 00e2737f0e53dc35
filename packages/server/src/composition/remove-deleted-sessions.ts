import { inBackground } from '../base/in-background.ts';
import type { Store } from '../store/store.ts';

/** Removes the files of deleted sessions from the disk. */
export interface DeletedSessions {
  /** Starts the removal of the files of a session in the background. */
  remove(sessionId: string): void;
  /** Waits for the removals that have started. */
  close(): Promise<void>;
}

/** Removes the files of each session that is deleted from now on. A failed removal is repeated at the next start. */
export function removeDeletedSessions(
  store: Pick<Store, 'subscribe'>,
  removeFiles: (sessionId: string) => Promise<unknown>,
  onProblem: (problem: unknown) => void,
): DeletedSessions {
  const removing = new Set<Promise<void>>();
  const remove = (sessionId: string) => {
    const removed: Promise<void> = removeFiles(sessionId).then(() => undefined, onProblem);
    removing.add(removed);
    inBackground(
      removed.finally(() => removing.delete(removed)),
      onProblem,
    );
  };
  store.subscribe((signals) => {
    for (const { type, sessionId } of signals) if (type === 'deleted') remove(sessionId);
  });
  return {
    remove,
    close: async () => {
      await Promise.all(removing);
    },
  };
}
