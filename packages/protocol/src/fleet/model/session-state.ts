import type { FleetSessionState } from '../wire/sessions.ts';

/** The facts that determine the state of a session. */
export interface SessionFacts {
  readonly isArchived: boolean;
  /** The number of approvals, questions, results and budgets that wait for a person. */
  readonly needsYou: number;
  /** Whether a run is in progress. */
  readonly isRunning: boolean;
  /** How the newest run ended; null if the session never ran. */
  readonly outcome: 'completed' | 'failed' | 'cancelled' | 'running' | null;
}

/**
 * The one state of a session. Work for a person takes precedence over the activity of agents, so that it is never missed. `stalled` depends on
 * the time: see {@link sessionStateAt}.
 */
export function toSessionState(facts: SessionFacts): StoredSessionState {
  if (facts.isArchived) return 'archived';
  if (facts.needsYou > 0) return 'needs_you';
  if (facts.isRunning) return 'running';
  if (facts.outcome === null) return 'idle';
  return facts.outcome === 'failed' ? 'failed' : 'done';
}

/** A state that does not depend on the time, as databases store it. */
export type StoredSessionState = Exclude<FleetSessionState, 'stalled'>;

/** The state at a time: a running session is stalled from `stallsAt` on. */
export function sessionStateAt(state: FleetSessionState, stallsAt: number | null, nowMs: number): FleetSessionState {
  if (state !== 'running' && state !== 'stalled') return state;
  return stallsAt !== null && stallsAt <= nowMs ? 'stalled' : 'running';
}

/** The state of a row as time passes, without another response of the server. */
export function stateOfSession(
  { state, stalls_at: stallsAt }: { readonly state: FleetSessionState; readonly stalls_at: string | null },
  nowMs: number,
): FleetSessionState {
  return sessionStateAt(state, stallsAt === null ? null : Date.parse(stallsAt), nowMs);
}

/** All states in the order in which a person should look at them, with their labels. */
export const sessionStates: Readonly<Record<FleetSessionState, { readonly rank: number; readonly label: string }>> = {
  needs_you: { rank: 0, label: 'needs you' },
  stalled: { rank: 1, label: 'stalled' },
  failed: { rank: 2, label: 'failed' },
  running: { rank: 3, label: 'running' },
  done: { rank: 4, label: 'done' },
  idle: { rank: 5, label: 'idle' },
  archived: { rank: 6, label: 'archived' },
};
