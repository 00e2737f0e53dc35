import type { Store } from '../store/store.ts';

/**
 * Runs the creation of a session for which files or records were prepared. If it fails, these are removed, unless the session exists
 * nevertheless: an error of the store can occur after the write.
 */
export async function discardFailedSession<Result>(
  { store, sessionId, discard }: DiscardFailedSession,
  make: () => Promise<Result>,
): Promise<Result> {
  try {
    return await make();
  } catch (error) {
    // If the look-up or the removal fails, the next start repeats it.
    const isMade = await store.heads([sessionId]).then(
      (heads) => heads.has(sessionId),
      () => true,
    );
    if (!isMade) await discard(sessionId).catch(() => undefined);
    throw error;
  }
}

/** A session whose creation may have failed. */
export interface DiscardFailedSession {
  readonly store: Pick<Store, 'heads'>;
  readonly sessionId: string;
  /** Removes everything on the disk and in the store that belongs to the session. */
  readonly discard: (sessionId: string) => Promise<void>;
}
