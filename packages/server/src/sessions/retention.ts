import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { yieldToEventLoop } from '../base/yield-to-event-loop.ts';
import type { Frame } from '../store/frame.ts';
import { pruneDeltas } from '../store/prune-deltas.ts';
import { readBatches } from '../store/read-batches.ts';
import type { SessionRecord } from '../store/records.ts';
import type { Schedule } from '../base/schedule.ts';
import type { Store } from '../store/store.ts';

/** How long one can see how answers grew. What they became is kept for ever. */
export type KeepDeltas = 'all' | 'none' | { readonly days: number };

export interface RetentionOptions {
  readonly store: Pick<Store, 'sessions' | 'read' | 'prune'>;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly keep: KeepDeltas;
  /** Whose sessions are looked after. */
  readonly workspaces: () => Promise<readonly string[]>;
  readonly onProblem?: (sessionId: string, error: unknown) => void;
  /** Where several processes share the store: whether it is for this one to do it. */
  readonly isMine?: (() => boolean) | undefined;
}

export interface Retention {
  /** Looks after all sessions once, and gives back how many frames it removed. */
  run(): Promise<number>;
  /** Does so now and then. */
  start(): void;
  close(): void;
}

/**
 * Removes deltas of turns that have ended. What folds out of the log stays the same: a delta goes only if its whole block
 * stands in the log too. What was said in a request that failed is nowhere else, so it stays.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { store, clock, schedule, keep, workspaces, onProblem, isMine = () => true } = options;
  /** Turns that ended before it were looked at. */
  let done = Number.NEGATIVE_INFINITY;
  let cancel = () => {};

  const run = async (): Promise<number> => {
    const endedBefore = toHorizon(keep, clock.now());
    let removed = 0;
    for (const workspaceId of await workspaces()) {
      for await (const { id, updatedAt, createdAt } of listSessions(store, workspaceId)) {
        if (updatedAt >= done && createdAt < endedBefore) removed += await prune(id, endedBefore);
      }
    }
    done = endedBefore;
    return removed;
  };

  /** One log that cannot be read does not keep the others from it. */
  const prune = async (sessionId: string, endedBefore: number): Promise<number> => {
    try {
      return await pruneSession(store, sessionId, endedBefore);
    } catch (error) {
      onProblem?.(sessionId, error);
      return 0;
    }
  };

  const start = (): void => {
    if (keep === 'all') return;
    cancel = schedule(
      () =>
        void (isMine() ? run() : Promise.resolve(0)).then(start, (error: unknown) => (onProblem?.('', error), start())),
      limits.retentionMs,
    );
  };

  return { run: async () => (keep === 'all' ? 0 : run()), start, close: () => cancel() };
}

const DAY_MS = 24 * 60 * 60 * 1_000;

function toHorizon(keep: KeepDeltas, now: number): number {
  if (keep === 'all') return Number.NEGATIVE_INFINITY;
  return keep === 'none' ? now : now - keep.days * DAY_MS;
}

async function* listSessions(store: Pick<Store, 'sessions'>, workspaceId: string): AsyncGenerator<SessionRecord> {
  let cursor: string | null = null;
  do {
    const place: { cursor?: string } = cursor === null ? {} : { cursor };
    const limit = limits.retentionPageItems;
    const page = await store.sessions.list({ workspaceId, includeArchived: true, order: 'asc', limit, ...place });
    yield* page.items;
    cursor = page.next;
    await yieldToEventLoop();
  } while (cursor !== null);
}

async function pruneSession(store: RetentionOptions['store'], sessionId: string, endedBefore: number): Promise<number> {
  const whole = new Set<string>();
  for await (const entries of readBatches(store, sessionId, 0, { skipsDeltas: true })) {
    for (const entry of entries) if (entry.kind === 'frame' && isWhole(entry.value)) whole.add(idOf(entry.value));
  }
  // Without whole blocks no delta can be removed, so the deltas need not be read.
  if (whole.size === 0) return 0;
  const isDelta = (frame: Frame) => frame.type.startsWith('delta.') && whole.has(idOf(frame));
  return pruneDeltas({ store, sessionId, endedBefore, isDelta, isTurnEnd: ({ type }) => type === 'turn.ended' });
}

function isWhole({ type }: Frame): boolean {
  return type === 'agent.message' || type === 'agent.thinking';
}

/** Deltas have the id of the event that they become. */
function idOf({ payload }: Frame): string {
  return payload['id'] as string;
}
