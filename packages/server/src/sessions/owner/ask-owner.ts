import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { commitOne } from '../../store/write.ts';
import { sessionError } from '../session-errors.ts';
import { type CommandOutcome, outcomeKey } from './command-outcome.ts';
import type { SessionCommand } from './session-command.ts';
import { type Waiter, waitUntil } from './wait-until.ts';

export interface Asker extends Waiter {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly waitMs?: number | undefined;
}

/**
 * Leaves a command for whoever owns the session, in the same queue as everything that clients send, so that it keeps its
 * place among it and outlives both processes. Resolves with what the owner made of it.
 */
export async function askOwner(
  asker: Asker,
  { workspaceId, id: sessionId }: SessionRecord,
  command: SessionCommand,
): Promise<CommandOutcome> {
  const { store, clock, ids, waitMs = limits.ownerWaitMs } = asker;
  const id = ids.next('sevt');
  // By the clock of the store, which both know: what is answered with a refusal is not done later all the same.
  const data = { command, expires_at: (await store.now()) + waitMs };
  const input = { id, threadId: null, time: clock.now(), data };
  await commitOne(store, { type: 'submit', sessionId, changes: [{ type: 'enqueue_input', input }] });
  const outcome = await waitUntil(asker, sessionId, waitMs, async () => {
    const record = await store.keys.get(workspaceId, outcomeKey(id));
    // Only owners write it, as `toOutcomeKey` makes it.
    if (record !== undefined) return record.result as unknown as CommandOutcome;
    // Nothing can be written to a session that is gone, so that it is gone has to be enough.
    const isGone = command.type === 'delete' && (await store.sessions.get(workspaceId, sessionId)) === undefined;
    return isGone ? ({ type: 'done' } as const) : undefined;
  });
  if (outcome !== undefined) return outcome;
  throw sessionError('session_elsewhere', `the process that owns ${sessionId} did not answer within ${waitMs} ms`);
}
