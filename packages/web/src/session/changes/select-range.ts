import type { WorkspaceStep } from '../../model/workspace-log.ts';

/** The filter of the changes to show. */
export interface ChangesFilter {
  readonly threadId: string | undefined;
  /** The `id` of a `Turn`. */
  readonly turn: string | undefined;
  /** Position of the replayed moment in the log. Undefined if the session is shown live. */
  readonly at: number | undefined;
}

/** The query of `GET /changes`. `version` changes when the response may differ. */
export type ChangesRange =
  | { readonly type: 'nothing_yet' }
  | {
      readonly type: 'range';
      readonly from?: string;
      readonly to?: string;
      readonly thread?: string;
      readonly version: string;
    };

/** Changes of one thread in one turn. */
export interface Turn {
  readonly id: string;
  readonly threadId: string | null;
  /** The number of the turn among the turns of its thread that changed files, from 1. */
  readonly number: number;
  readonly startedAt: number;
  readonly first: WorkspaceStep;
  readonly last: WorkspaceStep;
  readonly steps: number;
}

/** The part of the log that a filter selects: a turn, or everything up to the moment shown. */
export function selectRange(
  steps: readonly WorkspaceStep[],
  { threadId, turn: turnId, at = Number.POSITIVE_INFINITY }: ChangesFilter,
): ChangesRange {
  const isReplay = at !== Number.POSITIVE_INFINITY;
  const past = isReplay ? steps.filter(({ seq }) => seq <= at) : steps;
  const thread = threadId === undefined ? {} : { thread: threadId };
  const turn = turnId === undefined ? undefined : listTurns(past).find(({ id }) => id === turnId);
  if (turn !== undefined) {
    // The range begins before the turn's first change, even if the workspace was opened again in between.
    const [from, to] = [String(turn.first.seq - 1), turn.last.cursor];
    const owner = turn.threadId === null ? thread : { thread: turn.threadId };
    return { type: 'range', from, to, ...owner, version: `${from} ${to}` };
  }
  const last = past.at(-1);
  // The turn is later than the replayed moment, or the moment is before the first change.
  if (isReplay && (last === undefined || turnId !== undefined)) return { type: 'nothing_yet' };
  if (isReplay) return { type: 'range', to: last!.cursor, ...thread, version: last!.cursor };
  return { type: 'range', ...thread, version: `live ${last?.cursor ?? ''}` };
}

/** Turns that changed files, the oldest first. */
export function listTurns(steps: readonly WorkspaceStep[]): readonly Turn[] {
  const turns = new Map<string, Turn>();
  const numbers = new Map<string | null, number>();
  for (const step of steps) {
    if (step.turn === null) continue;
    const id = `${step.turn} ${step.threadId ?? ''}`;
    const known = turns.get(id);
    if (known !== undefined) {
      turns.set(id, { ...known, last: step, steps: known.steps + 1 });
      continue;
    }
    const number = (numbers.get(step.threadId) ?? 0) + 1;
    numbers.set(step.threadId, number);
    const { threadId, at } = step;
    turns.set(id, { id, threadId, number, startedAt: at, first: step, last: step, steps: 1 });
  }
  return [...turns.values()];
}
