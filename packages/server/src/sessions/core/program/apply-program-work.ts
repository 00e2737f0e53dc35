import type { ProgramWork } from '../../../engines/program/program.ts';
import type { Draft } from '../draft.ts';
import { logThreadOf } from '../state/program-threads.ts';
import type { ThreadState } from '../state/state.ts';

/** Work outside of turns is logged when it starts and when it ends, so that a process that takes over knows what was lost. */
export function applyProgramWork(draft: Draft, root: ThreadState, event: ProgramWork): void {
  const { workId: work_id } = event;
  const known = root.program.work[work_id];
  if (event.type === 'work_started') {
    const { kind, description, until } = event;
    if (known === undefined || known.until !== until) {
      draft.add(logThreadOf(root), 'program.work_started', { work_id, kind, description, until });
    }
  } else if (known !== undefined) {
    draft.add(logThreadOf(root), 'program.work_ended', { work_id, outcome: event.outcome, reason: null });
  }
}
