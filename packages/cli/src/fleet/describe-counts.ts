import { type FleetSessionFacets, type FleetSessionState, sessionStates } from '@fleetloom/protocol/fleet';

/** How many sessions have each state, in one line, those that need a person first. */
export function describeCounts({ states }: FleetSessionFacets): string {
  const entries = Object.entries(sessionStates).toSorted(([, a], [, b]) => a.rank - b.rank);
  // The cast: the keys are the states.
  const counted = entries.map(([state, { label }]) => [states[state as FleetSessionState], label] as const);
  return counted
    .filter(([count]) => count > 0)
    .map(([count, label]) => `${count.toLocaleString('en-US')} ${label}`)
    .join(' · ');
}
