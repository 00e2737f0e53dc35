import { type Approval, findOpen, resolveApproval } from './approval.ts';
import { isRepeat } from './cursor.ts';
import type { ApprovalResolved, FleetEvent, RequestReceived, StreamEvent } from './events.ts';
import { limits } from './limits.ts';
import { endRun, foldRun, type GapReason, indexOf, loseRun, type OnGap, type Run, startRun } from './run.ts';
import { awaitApproval } from './slot.ts';
import { type FleetTotals, foldTotals, noTotals } from './totals.ts';

/**
 * Everything that a stream has told of one session. A plain value of JSON: keep it, send it, go on folding with it.
 * What an event does not concern stays the very same object, so comparing by identity tells what to draw again.
 */
export interface SessionSlots {
  readonly sessionId: string | null;
  /** Of the newest event: where to go on reading. */
  readonly cursor: string | null;
  readonly lastAt: number | null;
  /** Oldest first. The last one is the one that runs, if one does. */
  readonly runs: readonly Run[];
  readonly runsDropped: number;
  readonly totals: FleetTotals;
  /** What the events prove to be missing, the newest kept; `gapCount` counts all. */
  readonly gaps: readonly Gap[];
  readonly gapCount: number;
  /** Events that this version does not know. */
  readonly unknownEvents: number;
  /** Why nothing will follow, if that was said. */
  readonly over: string | null;
  readonly textCharsMax: number;
}

export interface Gap {
  readonly reason: GapReason;
  /** The event at which it showed, and the one before it: what is missing is between them or earlier. */
  readonly cursor: string;
  readonly after: string | null;
}

export interface SlotsOptions {
  /** How much of each turn's text is kept: the end of it. */
  readonly textCharsMax?: number;
}

/** A session of which nothing is known yet. */
export function createSlots({ textCharsMax = limits.textCharsMax }: SlotsOptions = {}): SessionSlots {
  return {
    sessionId: null,
    cursor: null,
    lastAt: null,
    runs: [],
    runsDropped: 0,
    totals: noTotals,
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
 * Pure. An event that was folded before (its cursor tells) changes nothing, and so does one of another session.
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
  const told = reasons.reduce((session, reason) => addGap(session, state, reason, event.cursor), next);
  return {
    ...told,
    cursor: event.cursor === '' ? state.cursor : event.cursor,
    lastAt: event.ts ?? state.lastAt,
    totals: foldTotals(state.totals, event),
  };
}

/** The run that is under way. */
export function currentRun({ runs }: SessionSlots): Run | undefined {
  const last = runs.at(-1);
  return last?.state === 'running' ? last : undefined;
}

/** What waits for somebody to say yes or no, the oldest first. */
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
      onGap('told');
      return state;
    case 'over':
      return { ...state, over: event.reason };
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
      return foldStream(state, event, onGap);
  }
}

function addRun(state: SessionSlots, event: RequestReceived, onGap: OnGap): SessionSlots {
  const before = currentRun(state);
  if (before !== undefined) onGap('run_not_ended');
  const closed = before === undefined ? state : replaceRun(state, before, loseRun(before, event.ts));
  return keepNewest({ ...closed, runs: [...closed.runs, startRun(event, state.sessionId)] });
}

function foldStream(state: SessionSlots, event: StreamEvent, onGap: OnGap): SessionSlots {
  const run = currentRun(state) ?? missedRun(state, onGap);
  return replaceRun(state, run, foldRun(run, event, state.textCharsMax, onGap));
}

/** A run for events that come outside one. Who has just begun to read came in the middle, and misses nothing by that. */
function missedRun(state: SessionSlots, onGap: OnGap): Run {
  if (state.runs.length > 0) onGap('run_not_started');
  return startRun(null, state.sessionId);
}

/** A run that is not there yet is added. */
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

/** The answer belongs to the run that asked, which may be an earlier one. Nothing if none is known to have asked. */
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
  // The run that begins when another was not seen to end is itself complete so far.
  const doubted =
    run?.isWhole && reason !== 'run_not_ended' ? replaceRun(session, run, { ...run, isWhole: false }) : session;
  return { ...doubted, gaps, gapCount: session.gapCount + 1 };
}
