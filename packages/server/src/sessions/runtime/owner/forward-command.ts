import type { Clock } from '../../../base/clock.ts';
import type { Ids } from '../../../base/ids.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { SessionRecord } from '../../../store/records.ts';
import type { Store } from '../../../store/store.ts';
import { commitOne } from '../../../store/write.ts';
import { sessionError } from '../../core/session-errors.ts';
import { type CommandOutcome, outcomeKey } from './command-outcome.ts';
import type { SessionCommand } from './session-command.ts';
import { type Waiter, waitUntil } from './wait-until.ts';

/** What forwarding needs. */
export interface CommandSender extends Waiter {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly waitMs?: number | undefined;
}

/**
 * Forwards a command to the owner of a session through the input queue of the session, so that it keeps its order among the
 * events of clients and survives both processes. Resolves with the outcome.
 */
export async function forwardCommand(
  sender: CommandSender,
  { workspaceId, id: sessionId }: SessionRecord,
  command: SessionCommand,
): Promise<CommandOutcome> {
  const { store, clock, ids, waitMs = sessionLimits.ownerWaitMs } = sender;
  const id = ids.next('sevt');
  // By the clock of the store, which both nodes share: a command that timed out here must not run later.
  const data = { command, expires_at: (await store.now()) + waitMs };
  const input = { id, threadId: null, time: clock.now(), data };
  await commitOne(store, { type: 'submit', sessionId, changes: [{ type: 'enqueue_input', input }] });
  const outcome = await waitUntil(sender, sessionId, waitMs + sessionLimits.forwardMarginMs, async () => {
    const record = await store.keys.get(workspaceId, outcomeKey(id));
    // Only owners write this record, with `toOutcomeKey`.
    if (record !== undefined) return record.result as unknown as CommandOutcome;
    // A deleted session has no keys, so its absence is the outcome.
    const isGone = command.type === 'delete' && (await store.sessions.get(workspaceId, sessionId)) === undefined;
    return isGone ? ({ type: 'done' } as const) : undefined;
  });
  if (outcome !== undefined) return outcome;
  throw sessionError('session_elsewhere', `the process that owns ${sessionId} did not answer within ${waitMs} ms`);
}
