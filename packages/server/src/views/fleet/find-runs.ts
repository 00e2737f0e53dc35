import { readPages } from '../../store/read-pages.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { RunPlace, Store } from '../../store/store.ts';

/** The runs of a session that a reader receives: the first of them and all that follow. */
export interface FoundRuns {
  readonly firstSeq: number;
  readonly startedAt: number;
  /** The newest of them has not ended. */
  readonly isOpen: boolean;
}

/**
 * The open runs of a workspace and the runs that started at or after a time, by session, newest run first. They come from the
 * index of runs, so the number of sessions and frames does not matter.
 */
export async function findRuns(
  store: Pick<Store, 'runs'>,
  workspaceId: string,
  since: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, FoundRuns>> {
  const found = new Map<string, FoundRuns>();
  for (const filter of [{ startedFrom: since }, { isOpen: true as const }]) {
    const request = { workspaceId, limit: storeLimits.pageItemsMax, ...filter };
    if (signal.aborted) return found;
    for await (const runs of readPages((from) => store.runs.list({ ...request, ...from }))) {
      for (const run of runs) found.set(run.sessionId, join(found.get(run.sessionId), run));
      await yieldToEventLoop();
      if (signal.aborted) return found;
    }
  }
  return found;
}

/** Some sessions with open runs, and some with the newest runs that started at or after a time. */
export async function findFirstSessions(
  store: Pick<Store, 'runs'>,
  workspaceId: string,
  since: number,
): Promise<ReadonlySet<string>> {
  const page = { workspaceId, limit: viewLimits.fleetFirstSessions };
  const open = await store.runs.list({ ...page, isOpen: true });
  const recent = await store.runs.list({ ...page, startedFrom: since });
  return new Set([...open.items, ...recent.items].map(({ sessionId }) => sessionId));
}

/** The sessions without an open run that changed at or after a time. Errors outside of turns and rewinds change a session. */
export async function findChangedSessions(
  store: Pick<Store, 'sessions'>,
  workspaceId: string,
  since: number,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  const page = { includeArchived: true, limit: storeLimits.pageItemsMax };
  const request = { workspaceId, updatedFrom: since, statuses: ['idle', 'terminated'], ...page } as const;
  for await (const sessions of readPages((from) => store.sessions.listChanged({ ...request, ...from }))) {
    for (const { id } of sessions) found.push(id);
    await yieldToEventLoop();
    if (signal.aborted) break;
  }
  return found;
}

/**
 * What a reader receives of one session: an open run from its start, however old (the start time of an imported run is that of
 * its file), or else everything since a time that is not part of an older run. Undefined: the session was deleted.
 */
export async function findSessionRuns(
  store: Pick<Store, 'runs' | 'heads' | 'read'>,
  sessionId: string,
  since: number,
): Promise<FoundRuns | undefined> {
  const head = (await store.heads([sessionId])).get(sessionId);
  if (head === undefined) return undefined;
  const first = await store.runs.findSince(sessionId, since);
  const isOpen = first !== undefined && (await store.runs.findAt(sessionId, head))?.lastSeq === null;
  const runs = { firstSeq: first?.firstSeq ?? head + 1, startedAt: first?.startedAt ?? since, isOpen };
  return await withEventsBefore(store, sessionId, runs, since);
}

/**
 * The runs and what was logged since a time between the first of them and the run before it, such as an error. A run that is
 * open there is part of them.
 */
export async function withEventsBefore(
  store: Pick<Store, 'runs' | 'read'>,
  sessionId: string,
  runs: FoundRuns,
  since: number,
): Promise<FoundRuns> {
  const upTo = runs.firstSeq - 1;
  const before = await store.runs.findAt(sessionId, upTo);
  if (before !== undefined && before.lastSeq === null)
    return { firstSeq: before.firstSeq, startedAt: before.startedAt, isOpen: true };
  const frame = await findFrameSince(store, sessionId, { after: before?.lastSeq ?? 0, upTo, since });
  return frame === undefined ? runs : { ...runs, firstSeq: frame.seq, startedAt: frame.time };
}

/** The first frame between two that was written at or after a time. Times only grow, so few frames are read of many. */
async function findFrameSince(
  store: Pick<Store, 'read'>,
  sessionId: string,
  { after, upTo, since }: { readonly after: number; readonly upTo: number; readonly since: number },
): Promise<{ readonly seq: number; readonly time: number } | undefined> {
  let [low, high] = [after + 1, upTo];
  let found: { readonly seq: number; readonly time: number } | undefined;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [entry] = await store.read({ sessionId, after: middle - 1, entriesMax: 1, bytesMax: 1 });
    if (entry === undefined) return found;
    // Pruned frames are deltas, which are part of runs.
    if (entry.kind === 'frame' && entry.value.time >= since) {
      found = { seq: middle, time: entry.value.time };
      high = middle - 1;
    } else low = entry.lastSeq + 1;
  }
  return found;
}

function join(known: FoundRuns | undefined, { firstSeq, lastSeq, startedAt }: RunPlace): FoundRuns {
  const isOpen = lastSeq === null || known?.isOpen === true;
  if (known !== undefined && known.firstSeq <= firstSeq) return { ...known, isOpen };
  return { firstSeq, startedAt, isOpen };
}
