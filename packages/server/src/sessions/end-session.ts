import type { Draft } from './draft.ts';
import { endRun } from './end-run.ts';
import { terminate } from './end-turn.ts';
import type { TurnEnd } from '../frames/frames.ts';
import { loseWork } from './program/lose-work.ts';
import { primaryOf } from './state.ts';

export interface SessionEnd {
  readonly end: TurnEnd;
  readonly error: string;
  readonly isArchived: boolean;
}

/** Nothing will ever happen in this session again: every turn ends where it is, and every thread with it. */
export function endSession(draft: Draft, { end, error, isArchived }: SessionEnd): void {
  const children = [...draft.state.threads.values()].filter(({ parentId }) => parentId !== null);
  for (const thread of [...children, primaryOf(draft.state)]) {
    if (thread.status === 'terminated') continue;
    terminate(draft, thread, { end, error, isReported: false, isArchived: false });
  }
  loseWork(draft, error);
  endRun(draft);
  draft.event(null, 'session.status_terminated', { is_archived: isArchived });
}
