import type { ProgramWork } from '../../engines/program.ts';
import type { Draft } from '../draft.ts';

/** Work outside of turns is logged when it starts and when it ends, so that a process that takes over knows what was lost. */
export function takeProgramWork(draft: Draft, event: ProgramWork): void {
  const { workId: work_id } = event;
  const known = draft.state.work[work_id];
  if (event.type === 'work_started') {
    const { kind, description, until } = event;
    if (known === undefined || known.until !== until) {
      draft.add(null, 'program.work_started', { work_id, kind, description, until });
    }
  } else if (known !== undefined) {
    draft.add(null, 'program.work_ended', { work_id, outcome: event.outcome, reason: null });
  }
}
