import { limits } from '../../base/limits.ts';
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
    for (let cursor: string | null = ''; cursor !== null && !signal.aborted; await yieldToEventLoop()) {
      const from: { cursor?: string } = cursor === '' ? {} : { cursor };
      const page = await store.runs.list({ workspaceId, limit: limits.pageItemsMax, ...from, ...filter });
      for (const run of page.items) found.set(run.sessionId, join(found.get(run.sessionId), run));
      cursor = page.next;
    }
  }
  return found;
}

function join(known: FoundRuns | undefined, { firstSeq, lastSeq, startedAt }: RunPlace): FoundRuns {
  const isOpen = lastSeq === null || known?.isOpen === true;
  if (known !== undefined && known.firstSeq <= firstSeq) return { ...known, isOpen };
  return { firstSeq, startedAt, isOpen };
}
