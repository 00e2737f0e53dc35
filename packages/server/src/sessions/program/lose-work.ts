import type { Draft } from '../draft.ts';
import { primaryOf, workUnderWay } from '../state.ts';

/**
 * The program has ended, and with it what it did outside of turns. Each piece of work is logged as lost with the reason, and
 * one error tells clients. A wake-up whose time had passed was not lost.
 */
export function loseWork(draft: Draft, reason: string): void {
  const { state } = draft;
  const lost = workUnderWay(state, draft.now);
  for (const [work_id] of lost) draft.add(null, 'program.work_ended', { work_id, outcome: 'lost', reason });
  for (const work_id of Object.keys(state.work)) {
    draft.add(null, 'program.work_ended', { work_id, outcome: 'completed', reason: null });
  }
  const primary = primaryOf(state);
  if (lost.length === 0 || primary.status === 'terminated') return;
  const names = lost.map(([, { kind, description }]) => `${kindNames[kind]} "${description}"`);
  const message = `${names.join(', ')} ended with the program: ${reason}`;
  const error = { type: 'unknown_error' as const, message, reason: 'program_work_lost' };
  draft.event(primary, 'session.error', { error, retry: 'exhausted', retry_at: null });
}

const kindNames = { command: 'the background command', wake_up: 'the wake-up', task: 'the background task' } as const;
