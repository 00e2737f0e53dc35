import { FleetloomError } from '../base/errors.ts';
import type { Signal } from './store.ts';
import { storeError } from './store-errors.ts';
import { type Appended, type Outcome, sessionOf, type Write } from './write.ts';

/**
 * Runs the writes of one commit in order, for any implementation. `runWrite` runs one of them, or throws a rejection and
 * leaves nothing of it behind; any other error fails the whole commit.
 */
export function runWrites(writes: readonly Write[], runWrite: (write: Write) => Appended) {
  const signals: Signal[] = [];
  const refusals = new Map<string, FleetloomError>();
  const outcomes = writes.map((write): Outcome => {
    const sessionId = sessionOf(write);
    const earlier = needsFence(write) ? refusals.get(sessionId) : undefined;
    if (earlier !== undefined) return { ok: false, error: writeSkipped(sessionId, earlier) };
    try {
      const appended = runWrite(write);
      signals.push(...toSignals(write, appended));
      return { ok: true, ...appended };
    } catch (error) {
      if (!(error instanceof FleetloomError)) throw error;
      if (needsFence(write)) refusals.set(sessionId, error);
      return { ok: false, error };
    }
  });
  return { outcomes, signals };
}

/** Whether a write depends on the writes of the owner before it. Submitted writes are independent of each other. */
export function needsFence(write: Write<unknown>): write is Extract<Write<unknown>, { fence: number }> {
  return write.type === 'append' || write.type === 'delete';
}

/** The error of a write that was not tried because an earlier write of its session in the same commit was refused. */
export function writeSkipped(sessionId: string, cause: unknown): FleetloomError {
  return storeError('write_skipped', `a write of ${sessionId} before this one was refused`, cause);
}

function toSignals(write: Write, { firstSeq, lastSeq }: Appended): Signal[] {
  const sessionId = sessionOf(write);
  if (write.type === 'delete') return [{ type: 'deleted', sessionId }];
  const isSubmitted = write.changes.some(({ type }) => type === 'enqueue_input' || type === 'resolve_approval');
  return [
    ...(lastSeq >= firstSeq ? [{ type: 'frames' as const, sessionId, head: lastSeq }] : []),
    ...(isSubmitted ? [{ type: 'inputs' as const, sessionId }] : []),
    ...(write.changes.some(({ type }) => type === 'enqueue_work') ? [{ type: 'works' as const, sessionId }] : []),
  ];
}
