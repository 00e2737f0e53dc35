import type { FleetSessionState } from '@fleetloom/protocol/fleet';
import type { SummaryInput } from './summary.ts';

/** The state of a session from the states of its threads, in the words of the list of sessions. */
export function toFleetState({ session, slots, rows }: SummaryInput): FleetSessionState {
  if (session.record?.archived_at != null) return 'archived';
  const has = (state: string) => rows.some((row) => row.state === state);
  if (has('needs')) return 'needs_you';
  const run = slots.runs.at(-1);
  // Before the log is loaded, the record has the state.
  const isRunning = run === undefined ? session.record?.status === 'running' : run.state === 'running';
  if (isRunning) return has('stalled') ? 'stalled' : 'running';
  if (run === undefined && session.firstAt === null) return session.record?.status === 'terminated' ? 'done' : 'idle';
  return rows.some(({ state, level }) => state === 'error' && level === 0) ? 'failed' : 'done';
}
