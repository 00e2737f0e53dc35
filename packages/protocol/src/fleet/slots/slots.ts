import { type Approval, findOpen, resolveApproval } from './approval.ts';
import { isRepeat } from '../wire/cursor.ts';
import type { ApprovalResolved, FleetEvent, RequestReceived, SessionFault, StreamEvent } from '../wire/events.ts';
import { limits } from './limits.ts';
import { endRun, foldRun, type GapReason, indexOf, endLostRun, type OnGap, type Run, startRun } from './run.ts';
import { awaitApproval } from './slot.ts';
import { type FleetTotals, foldTotals, noTotals } from './totals.ts';

/**
 * The fold of one session's fleet stream. A plain JSON value: keep it, send it, continue folding it. Parts that an event
 * does not change stay the same object, so comparing by identity finds what to draw again.
 */
export interface SessionSlots {
  readonly sessionId: string | null;
  /** The cursor of the newest event: where a reader resumes. */
  readonly cursor: string | null;
  readonly lastAt: number | null;
  /** Oldest first. If a run is in progress, it is the last one. */
  readonly runs: readonly Run[];
  readonly runsDropped: number;
  readonly totals: FleetTotals;
  /** Errors outside of turns since the newest run started, such as lost background work; the newest ones. */
  readonly errors: readonly SessionFault[];
  /** Gaps that the events prove, the newest ones; `gapCount` counts all. */
  readonly gaps: readonly Gap[];
  readonly gapCount: number;
  /** The number of events that this version does not know. */
  readonly unknownEvents: number;
  /** Why no further event follows; null while the stream has not ended. */
  readonly over: string | null;
  readonly textCharsMax: number;
}

/** Events that are missing. */
export interface Gap {
  readonly reason: GapReason;
  /** The event that proves the gap; `after` is the event before it. The missing events are between them or earlier. */
  readonly cursor: string;
  readonly after: string | null;
}

/** Options of {@link createSlots}. */
export interface SlotsOptions {
  /** Characters kept of each turn's text: the end of it. */
  readonly textCharsMax?: number;
}

/** A session without any event yet. */
export function createSlots({ textCharsMax = limits.textCharsMax }: SlotsOptions = {}): SessionSlots {
  return {
    sessionId: null,
    cursor: null,
    lastAt: null,
    runs: [],
    runsDropped: 0,
    totals: noTotals,
    errors: [],
    gaps: [],
    gapCount: 0,
    unknownEvents: 0,
    over: null,
    textCharsMax,
  };
}

/**
 * The consumer rule: a slot opens on `stream_start`, takes every event with its `stream_id`, closes on `stream_end`.
 *
 * Pure. An event that was folded before, recognized by its cursor, changes nothing; neither does one of another session.
 *
 * @example
 * let slots = createSlots();
 * for await (const event of watchFleet({ url, session })) slots = foldSlots(slots, event);
 */
export function foldSlots(state: SessionSlots, event: FleetEvent): SessionSlots {
  if (isRepeat(event.cursor, state.cursor) || isForeign(state, event)) return state;
  const reasons: GapReason[] = [];
  const { session_id: sessionId = state.sessionId } = event;
  const named = sessionId === state.sessionId ? state : { ...state, sessionId };
  const next = foldNew(named, event, (reason) => reasons.push(reason));
  const withGaps = reasons.reduce((session, reason) => addGap(session, state, reason, event.cursor), next);
  return {
    ...withGaps,
    cursor: event.cursor === '' ? state.cursor : event.cursor,
    lastAt: event.ts ?? state.lastAt,
    totals: foldTotals(state.totals, event),
  };
}

/** The run in progress. */
export function currentRun({ runs }: SessionSlots): Run | undefined {
  const last = runs.at(-1);
  return last?.state === 'running' ? last : undefined;
}

/** The pending approvals, the oldest first. */
export function openApprovals({ runs }: SessionSlots): Approval[] {
  return runs.flatMap(({ approvals }) => approvals.filter(({ state }) => state === 'open'));
}

function isForeign({ sessionId }: SessionSlots, event: FleetEvent): boolean {
  return sessionId !== null && event.session_id !== undefined && event.session_id !== sessionId;
}

function foldNew(state: SessionSlots, event: FleetEvent, onGap: OnGap): SessionSlots {
  switch (event.type) {
    case 'request_received':
      return addRun(state, event, onGap);
    case 'done': {
      const run = currentRun(state) ?? missedRun(state, onGap);
      return replaceRun(state, run, endRun(run, event, onGap));
    }
    case 'gap':
      onGap('reported');
      return state;
    case 'over':
      return { ...state, over: event.reason };
    case 'session_error':
      return { ...state, errors: [...state.errors, event].slice(-limits.sessionErrorsMax) };
    case 'unknown':
      return { ...state, unknownEvents: state.unknownEvents + 1 };
    case 'error': {
      if (event.stream_id !== undefined) return foldStream(state, event, onGap);
      const run = currentRun(state) ?? missedRun(state, onGap);
      return replaceRun(state, run, { ...run, error: event.message, errorCode: event.code });
    }
    case 'approval_resolved':
      return resolve(state, event) ?? foldStream(state, event, onGap);
    default:
      // Events outside of turns change no slot.
      return 'stream_id' in event && event.stream_id !== undefined ? foldStream(state, event, onGap) : state;
  }
}

function addRun(state: SessionSlots, event: RequestReceived, onGap: OnGap): SessionSlots {
  const before = currentRun(state);
  if (before !== undefined) onGap('run_not_ended');
  const closed = before === undefined ? state : replaceRun(state, before, endLostRun(before, event.ts));
  return keepNewest({ ...closed, runs: [...closed.runs, startRun(event, state.sessionId)], errors: [] });
}

function foldStream(state: SessionSlots, event: StreamEvent, onGap: OnGap): SessionSlots {
  const run = currentRun(state) ?? missedRun(state, onGap);
  return replaceRun(state, run, foldRun(run, event, state.textCharsMax, onGap));
}

/** A run for events outside a known run. A reader may start in the middle of a run: that is not a gap. */
function missedRun(state: SessionSlots, onGap: OnGap): Run {
  if (state.runs.length > 0) onGap('run_not_started');
  return startRun(null, state.sessionId);
}

/** Replaces a run, or adds it if it is new. */
function replaceRun(state: SessionSlots, run: Run, next: Run): SessionSlots {
  const index = state.runs.lastIndexOf(run);
  if (index === -1) return keepNewest({ ...state, runs: [...state.runs, next] });
  return { ...state, runs: state.runs.with(index, next) };
}

function keepNewest(state: SessionSlots): SessionSlots {
  const surplus = state.runs.length - limits.runsMax;
  if (surplus <= 0) return state;
  return { ...state, runs: state.runs.slice(surplus), runsDropped: state.runsDropped + surplus };
}

/** Applies a decision to the run with the approval, which may be an earlier run. Undefined if no run has it. */
function resolve(state: SessionSlots, event: ApprovalResolved): SessionSlots | undefined {
  const run = state.runs.findLast(({ approvals }) => findOpen(approvals, event.tool_use_id) !== undefined);
  const answered = run && findOpen(run.approvals, event.tool_use_id);
  if (run === undefined || answered === undefined) return undefined;
  const index = indexOf(run, answered.streamId);
  const slot = run.slots[index];
  return replaceRun(state, run, {
    ...run,
    approvals: resolveApproval(run.approvals, answered, event),
    slots: slot === undefined ? run.slots : run.slots.with(index, awaitApproval(slot, -1, event)),
  });
}

function addGap(
  session: SessionSlots,
  { cursor: after }: SessionSlots,
  reason: GapReason,
  cursor: string,
): SessionSlots {
  const gaps = [...session.gaps, { reason, cursor, after }].slice(-limits.gapsMax);
  const run = currentRun(session);
  // A run that starts although the previous one was not seen to end is itself complete so far.
  const doubted =
    run?.isWhole && reason !== 'run_not_ended' ? replaceRun(session, run, { ...run, isWhole: false }) : session;
  return { ...doubted, gaps, gapCount: session.gapCount + 1 };
}
