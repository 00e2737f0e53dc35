import type { Store } from '../../../store/store.ts';
import { isStoreError } from '../../../store/store-errors.ts';
import { STATE_CHECKPOINT } from '../../core/state/saved-state.ts';

/** Bytes that are read when a session is opened: its newest checkpoint, the log behind it, and the inputs that wait. */
export async function measureSession(
  store: Pick<Store, 'checkpoints' | 'logBytes' | 'inputs'>,
  sessionId: string,
): Promise<number> {
  const upTo = Number.MAX_SAFE_INTEGER;
  const [kept, waiting] = await Promise.all([
    store.checkpoints.findSeq({ sessionId, kind: STATE_CHECKPOINT, upTo }).catch(ignoreDeleted),
    store.inputs.bytes(sessionId),
  ]);
  return (kept?.bytes ?? 0) + waiting + (await store.logBytes(sessionId, kept?.seq ?? 0));
}

/** Opening a session that was deleted fails with an error of its own. */
function ignoreDeleted(error: unknown): undefined {
  if (!isStoreError(error, 'not_found')) throw error;
}
