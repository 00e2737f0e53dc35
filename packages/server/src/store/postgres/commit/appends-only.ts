import { isRunMark } from '../../fold-runs.ts';
import { checkFence, found } from '../../guards.ts';
import { runWrites } from '../../run-writes.ts';
import { storeError } from '../../store-errors.ts';
import type { EncodedFrame } from '../../frame.ts';
import type { Write } from '../../write.ts';
import type { Database } from '../database.ts';
import { type Append, inOrder } from './append.ts';

/** The frames of each session, if the writes are nothing else and each session has one fence: then no record matters. */
export function toAppends(writes: readonly Write[]): Append[] | undefined {
  const bySession = new Map<string, Append & { frames: EncodedFrame[] }>();
  for (const write of writes) {
    if (write.type !== 'append' || write.changes.length > 0) return undefined;
    const { sessionId, fence, frames } = write;
    // The index of runs is written with the records.
    if (frames.some(({ mark }) => isRunMark(mark))) return undefined;
    const known = bySession.get(sessionId);
    if (known === undefined) bySession.set(sessionId, { sessionId, fence, frames: [...frames] });
    else if (known.fence !== fence) return undefined;
    else for (const frame of frames) known.frames.push(frame);
  }
  return [...bySession.values()].sort(inOrder);
}

/** A session with the fence of its owner; none if there is no such session. */
export type Refusal = readonly [sessionId: string, fence: number | null];

/** What each write has come to. A head is null if the session was refused, and `fences` says why. */
export function finishAppends(
  writes: readonly Write[],
  appends: readonly Append[],
  heads: readonly (number | null)[],
  fences: ReadonlyMap<string, number | null> | undefined,
) {
  const next = new Map(
    appends.map(({ sessionId, frames }, index) => {
      const head = heads[index] ?? null;
      return [sessionId, head === null ? undefined : head - frames.length];
    }),
  );
  return runWrites(writes, (write) => {
    // The other kinds are not among them.
    const { sessionId, fence, frames } = write as Extract<Write, { type: 'append' }>;
    const head = next.get(sessionId);
    if (head === undefined) {
      if (fences !== undefined) checkFence(sessionId, fence, found(fences.get(sessionId) ?? undefined, sessionId));
      throw storeError('stale_owner', `${sessionId} was taken over while it was written with fence ${fence}`);
    }
    next.set(sessionId, head + frames.length);
    return { firstSeq: head + 1, lastSeq: head + frames.length };
  });
}

/** Why sessions were refused, when that was lost with the answer. Undefined if it cannot be found out either. */
export async function fencesOf(database: Database, sessionIds: readonly string[]) {
  if (sessionIds.length === 0) return new Map();
  const sql = 'SELECT session_id, fence FROM ~logs WHERE session_id = ANY ($1)';
  const reading = database.read<{ session_id: string; fence: number }>(sql, [sessionIds]);
  return reading.then(
    ({ rows }) => new Map(rows.map(({ session_id: id, fence }) => [id, fence])),
    () => undefined,
  );
}
