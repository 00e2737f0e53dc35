import { isRepeat } from '../wire/cursor.ts';
import type { FleetEvent } from '../wire/events.ts';
import { limits } from './limits.ts';
import { createSlots, currentRun, foldSlots, type SessionSlots, type SlotsOptions } from './slots.ts';
import { type FleetTotals, foldTotals, noTotals } from './totals.ts';

/** The fold of a stream of many sessions. A plain JSON value, like `SessionSlots`. */
export interface Fleet {
  /** The cursor of the newest event, in its session. The reader keeps its own cursor. */
  readonly cursor: string | null;
  readonly lastAt: number | null;
  /** The sessions in the order of their first event. */
  readonly sessions: readonly SessionSlots[];
  readonly sessionsDropped: number;
  readonly totals: FleetTotals;
  /** Gaps reported by the stream itself that belong to no session. */
  readonly gapCount: number;
  /** Events without a session, other than gaps. */
  readonly unplacedEvents: number;
  readonly textCharsMax: number;
}

/** A fleet without events. */
export function createFleet({ textCharsMax = limits.textCharsMax }: SlotsOptions = {}): Fleet {
  return {
    cursor: null,
    lastAt: null,
    sessions: [],
    sessionsDropped: 0,
    totals: noTotals,
    gapCount: 0,
    unplacedEvents: 0,
    textCharsMax,
  };
}

/**
 * As `foldSlots`, for the events of many sessions on one stream: each goes to the session that it names, whose cursors
 * say whether it was folded before.
 */
export function foldFleet(fleet: Fleet, event: FleetEvent): Fleet {
  // These are rows of the list of sessions, which is not part of this fold.
  if (event.type === 'sessions_changed') return fleet;
  const next =
    event.session_id === undefined ? foldUnplaced(fleet, event) : foldSession(fleet, event.session_id, event);
  if (next === fleet) return fleet;
  return {
    ...next,
    cursor: event.cursor === '' ? fleet.cursor : event.cursor,
    lastAt: event.ts ?? fleet.lastAt,
    totals: foldTotals(fleet.totals, event),
  };
}

/** The session with this id. */
export function findSession({ sessions }: Fleet, sessionId: string): SessionSlots | undefined {
  return sessions[placeOf(sessions, sessionId)];
}

function foldUnplaced(fleet: Fleet, event: FleetEvent): Fleet {
  if (isRepeat(event.cursor, fleet.cursor)) return fleet;
  if (event.type === 'gap') return { ...fleet, gapCount: fleet.gapCount + 1 };
  return { ...fleet, unplacedEvents: fleet.unplacedEvents + 1 };
}

function foldSession(fleet: Fleet, sessionId: string, event: FleetEvent): Fleet {
  const { sessions, textCharsMax } = fleet;
  const place = placeOf(sessions, sessionId);
  const known = sessions[place];
  if (known !== undefined) {
    const folded = foldSlots(known, event);
    return folded === known ? fleet : { ...fleet, sessions: withPlaces(sessions, sessions.with(place, folded)) };
  }
  const added = foldSlots({ ...createSlots({ textCharsMax }), sessionId }, event);
  return keepNewest({ ...fleet, sessions: withPlaces(sessions, [...sessions, added]) });
}

/** Removes sessions above the limit: sessions without a run first, the longest inactive first. */
function keepNewest(fleet: Fleet): Fleet {
  const { sessions } = fleet;
  if (sessions.length <= limits.sessionsMax) return fleet;
  const idle = sessions.filter((session) => currentRun(session) === undefined);
  const candidates = idle.length > 0 ? idle : sessions.slice(0, -1);
  const dropped = candidates.reduce((oldest, one) => ((one.lastAt ?? 0) < (oldest.lastAt ?? 0) ? one : oldest));
  return {
    ...fleet,
    sessions: sessions.filter((session) => session !== dropped),
    sessionsDropped: fleet.sessionsDropped + 1,
  };
}

/**
 * Indexes by session id, stored outside of the value so that it stays plain data. Successive lists share one map: a session keeps its index
 * until one before it is dropped, and an outdated index is searched for again.
 */
const placesOf = new WeakMap<readonly SessionSlots[], Map<string, number>>();

function withPlaces(before: readonly SessionSlots[], sessions: readonly SessionSlots[]): readonly SessionSlots[] {
  placesOf.set(sessions, placesOf.get(before) ?? new Map());
  return sessions;
}

function placeOf(sessions: readonly SessionSlots[], sessionId: string): number {
  const places = placesOf.get(sessions);
  const remembered = places?.get(sessionId) ?? -1;
  if (sessions[remembered]?.sessionId === sessionId) return remembered;
  const found = sessions.findIndex((session) => session.sessionId === sessionId);
  if (found !== -1) places?.set(sessionId, found);
  return found;
}
