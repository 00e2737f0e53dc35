import type { Draft } from '../draft.ts';
import { endRun } from './end-run.ts';
import { terminate } from '../turn/end-turn.ts';
import type { TurnEnd } from '../../../frames/payload-parts.ts';
import { endLostWork } from '../program/end-lost-work.ts';
import { listProgramRoots } from '../state/program-threads.ts';
import { primaryOf } from '../state/state.ts';

/** How and why a session ends. */
export interface SessionEnd {
  readonly end: TurnEnd;
  readonly error: string;
  readonly isArchived: boolean;
}

/** Terminates a session: every turn ends where it is, and every thread with it. */
export function endSession(draft: Draft, { end, error, isArchived }: SessionEnd): void {
  const children = [...draft.state.threads.values()].filter(({ parentId }) => parentId !== null);
  for (const thread of [...children, primaryOf(draft.state)]) {
    if (thread.status === 'terminated') continue;
    terminate(draft, thread, { end, error, isReported: false, isArchived: false });
  }
  for (const root of listProgramRoots(draft.state)) endLostWork(draft, root, error);
  endRun(draft);
  draft.event(null, 'session.status_terminated', { is_archived: isArchived });
}
