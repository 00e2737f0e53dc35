import { type FleetSessionFacets, type FleetSessionState, sessionStates } from '@fleetloom/protocol/fleet';

/** The number of sessions in each state, in one line, sessions that need a person first. */
export function describeCounts({ states }: FleetSessionFacets): string {
  const entries = Object.entries(sessionStates).toSorted(([, a], [, b]) => a.rank - b.rank);
  // The cast is safe: the keys are the states.
  const counted = entries.map(([state, { label }]) => [states[state as FleetSessionState], label] as const);
  return counted
    .filter(([count]) => count > 0)
    .map(([count, label]) => `${count.toLocaleString('en-US')} ${label}`)
    .join(' · ');
}
