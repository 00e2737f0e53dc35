import { isRunMark } from '../../fold-runs.ts';
import { checkFence, found } from '../../guards.ts';
import { runWrites } from '../../run-writes.ts';
import { storeError } from '../../store-errors.ts';
import type { EncodedFrame } from '../../frame.ts';
import type { Write } from '../../write.ts';
import type { Database } from '../database.ts';
import { type Append, inOrder } from './append.ts';

/** The frames of each session if the writes contain nothing else and each session has one fence: then no record has to be read. */
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

/** A rejected session with the fence of its owner; null if it does not exist. */
export type Refusal = readonly [sessionId: string, fence: number | null];

/** The outcome of each write. A head is null if the session was rejected; `fences` has the reason. */
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
    // `toAppends` returns only writes of this kind.
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

/** Reads why sessions were rejected, if that was lost with the response. Undefined if that fails, too. */
export async function fencesOf(database: Database, sessionIds: readonly string[]) {
  if (sessionIds.length === 0) return new Map();
  const sql = 'SELECT session_id, fence FROM ~logs WHERE session_id = ANY ($1)';
  const reading = database.read<{ session_id: string; fence: number }>(sql, [sessionIds]);
  return reading.then(
    ({ rows }) => new Map(rows.map(({ session_id: id, fence }) => [id, fence])),
    () => undefined,
  );
}
