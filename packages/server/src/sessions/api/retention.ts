import { readPages } from '../../store/read-pages.ts';
import type { Clock } from '../../base/clock.ts';
import { sessionLimits } from '../core/limits.ts';
import { storeLimits } from '../../store/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Frame } from '../../store/frame.ts';
import { pruneDeltas } from '../../log/prune-deltas.ts';
import { readBatches } from '../../log/read-batches.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';

/** How long deltas are kept. The whole blocks are kept forever. */
export type KeepDeltas = 'all' | 'none' | { readonly days: number };

/** What retention needs. */
export interface RetentionOptions {
  readonly store: Pick<Store, 'sessions' | 'read' | 'prune'>;
  readonly clock: Clock;
  readonly schedule: Schedule;
  readonly keep: KeepDeltas;
  /** The workspaces whose sessions are pruned. */
  readonly workspaces: () => Promise<readonly string[]>;
  readonly onProblem?: (sessionId: string, error: unknown) => void;
  /** Whether this node prunes, where several nodes share the store. */
  readonly isMine?: (() => boolean) | undefined;
}

/** Removes expired deltas from time to time. */
export interface Retention {
  /** Prunes all sessions once and returns how many frames were removed. */
  run(): Promise<number>;
  /** Prunes periodically. */
  start(): void;
  close(): void;
}

/**
 * Removes deltas of turns that have ended. The state of the log stays the same: a delta is removed only if its whole block is
 * in the log too. The deltas of a failed request are the only record of its text, so they stay.
 */
export function createRetention(options: RetentionOptions): Retention {
  const { store, clock, schedule, keep, workspaces, onProblem, isMine = () => true } = options;
  /** Turns that ended before this time are done. */
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

  /** Prunes one log. A log that cannot be read does not keep other logs from being pruned. */
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
      sessionLimits.retentionMs,
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
  const limit = storeLimits.retentionPageItems;
  const request = { workspaceId, includeArchived: true, order: 'asc', limit } as const;
  for await (const sessions of readPages((from) => store.sessions.list({ ...request, ...from }))) {
    yield* sessions;
    await yieldToEventLoop();
  }
}

async function pruneSession(store: RetentionOptions['store'], sessionId: string, endedBefore: number): Promise<number> {
  const whole = new Set<string>();
  for await (const entries of readBatches(store, sessionId, 0, { skipsDeltas: true })) {
    for (const entry of entries) if (entry.kind === 'frame' && isWhole(entry.value)) whole.add(idOfWhole(entry.value));
  }
  // Without whole blocks no delta can be removed, so the deltas need not be read.
  if (whole.size === 0) return 0;
  const isDelta = (frame: Frame) => frame.type.startsWith('delta.') && whole.has(idOf(frame));
  return pruneDeltas({ store, sessionId, endedBefore, isDelta, isTurnEnd: ({ type }) => type === 'turn.ended' });
}

function isWhole({ type }: Frame): boolean {
  return type === 'agent.message' || type === 'agent.thinking' || type === 'agent.tool_result';
}

/** The id that the deltas of a whole block or result have. The result of a call contains its whole output. */
function idOfWhole(frame: Frame): string {
  return frame.type === 'agent.tool_result' ? (frame.payload['tool_use_id'] as string) : idOf(frame);
}

/** Deltas have the id of the event of their block, or of their call. */
function idOf({ payload }: Frame): string {
  return payload['id'] as string;
}
