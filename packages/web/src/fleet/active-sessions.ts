import { type CalmOrder, type FleetSessionState, sessionStates } from '@fleetloom/protocol/fleet';
import { toFleetState } from '../model/fleet-state.ts';
import type { ShownSession } from '../stores/fleet-store.ts';
import type { UiStore } from '../stores/ui-store.ts';
import { tableLimits } from './limits.ts';

/** The input of `toActiveSessions`. */
export interface ActiveInput {
  readonly sessions: readonly ShownSession[];
  readonly ui: Pick<UiStore, 'windowMs' | 'windowEnd'>;
  readonly now: number;
  readonly order: CalmOrder;
  /** Whether the pointer is over the rows: then the order does not change. */
  readonly isHeld: boolean;
  /** Whether the first sessions are loaded. Until then, each session takes its position at once, because rows not shown yet cannot jump. */
  readonly isSettled: boolean;
}

/**
 * The active sessions: sessions that need a person first, then stalled, failed and running ones. Sessions that failed or
 * finished are shown while they are in the window of the lanes.
 */
export function toActiveSessions({
  sessions,
  ui,
  now,
  order,
  isHeld,
  isSettled,
}: ActiveInput): readonly ShownSession[] {
  const from = ui.windowMs === 'all' ? 0 : (ui.windowEnd ?? now) - Math.max(ui.windowMs, tableLimits.finishedMs);
  const active = sessions
    .map((shown) => ({ shown, state: toFleetState(shown) }))
    .filter(({ shown, state }) => isOpen(state) || lastOf(shown) >= from)
    .toSorted((left, right) => sessionStates[left.state].rank - sessionStates[right.state].rank);
  const byId = new Map(active.map(({ shown }) => [shown.session.id, shown]));
  return order
    .order([...byId.keys()], now, isHeld && isSettled, isSettled ? tableLimits.reorderMs : 0)
    .flatMap((sessionId) => byId.get(sessionId) ?? []);
}

/** Detects when the sessions of an opened page are loaded. Sessions that begin later do not change the result. */
export class Settling {
  #loadingAt: number | undefined;
  #isSettled = false;

  isSettled(sessions: readonly Pick<ShownSession, 'isLoading'>[], now: number): boolean {
    if (this.#isSettled) return true;
    if (sessions.length === 0 || sessions.some(({ isLoading }) => isLoading)) this.#loadingAt = now;
    this.#loadingAt ??= now;
    return (this.#isSettled = now - this.#loadingAt >= tableLimits.settledMs);
  }
}

function isOpen(state: FleetSessionState): boolean {
  return state === 'needs_you' || state === 'running' || state === 'stalled';
}

/** The last event of a session, or its last update if its log is not loaded. */
function lastOf({ session, slots }: ShownSession): number {
  if (slots.lastAt !== null) return slots.lastAt;
  return session.record === undefined ? Number.POSITIVE_INFINITY : Date.parse(session.record.updated_at);
}
