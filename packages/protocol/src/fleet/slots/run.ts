import { type Approval, findOpen, toApproval, withdrawApprovals } from './approval.ts';
import type { ApprovalRequired, Done, RequestReceived, StreamEvent, StreamStart } from '../wire/events.ts';
import { limits } from './limits.ts';
import { awaitApproval, closeSlot, countChild, foldSlot, isOpen, openSlot, type Slot, startSlot } from './slot.ts';
import { type FleetTotals, foldTotals, noTotals } from './totals.ts';

/** One run: from its input until every thread of the session is idle. Stream ids start at 0 in every run. */
export interface Run {
  /** The id of the run; null if its start was not seen. */
  readonly requestId: string | null;
  readonly sessionId: string | null;
  readonly agent: string | null;
  /** The beginning of the run's input. */
  readonly message: string | null;
  /** `lost`: the next run started, and the end of this one was not seen. */
  readonly state: 'running' | 'ok' | 'failed' | 'lost';
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly durationMs: number | null;
  /** The slots in the order in which they opened; `layoutRun` returns them as a tree. */
  readonly slots: readonly Slot[];
  readonly slotsDropped: number;
  /** The highest stream id so far, -1 before the first. */
  readonly highestStreamId: number;
  readonly approvals: readonly Approval[];
  readonly totals: FleetTotals;
  /** The coordinator's final answer. */
  readonly content: string | null;
  readonly error: string | null;
  readonly errorCode: string | null;
  /** Whether the start of the run was seen, and no gap since. */
  readonly isWhole: boolean;
}

/** How the events prove a gap. */
export type GapReason =
  /** The stream reports the gap, or an event was too long to be read. */
  | 'reported'
  /** Events of a run without `request_received`. */
  | 'run_not_started'
  /** The next run started before the `done` of the previous one. */
  | 'run_not_ended'
  /** An event of a turn without `stream_start`. */
  | 'stream_not_started'
  /** A second `stream_start` or `stream_end` with the same id. */
  | 'stream_reused'
  /** `done`, although a turn has no `stream_end`. */
  | 'stream_not_ended'
  /** At `done` some ids below the highest were never seen. */
  | 'streams_missing'
  /** Text was retracted that had not been seen. */
  | 'text_missing'
  /** `done` has other totals than the events before it. */
  | 'totals_differ';

/** Receives gaps found while folding. */
export type OnGap = (reason: GapReason) => void;

/** A run that starts, or a run whose start was not seen. */
export function startRun(event: RequestReceived | null, sessionId: string | null): Run {
  return {
    requestId: event?.request_id ?? null,
    sessionId: event?.session_id ?? sessionId,
    agent: event?.agent ?? null,
    message: event?.message ?? null,
    state: 'running',
    startedAt: event?.ts ?? null,
    endedAt: null,
    durationMs: null,
    slots: [],
    slotsDropped: 0,
    highestStreamId: -1,
    approvals: [],
    totals: noTotals,
    content: null,
    error: null,
    errorCode: null,
    isWhole: event !== null,
  };
}

/** The run after one more event of one of its turns. */
export function foldRun(run: Run, event: StreamEvent, textCharsMax: number, onGap: OnGap): Run {
  const totals = foldTotals(run.totals, event);
  const counted = totals === run.totals ? run : { ...run, totals };
  if (event.type === 'stream_start') return openTurn(counted, event, onGap);

  const opened = withTurn(counted, event, onGap);
  const index = indexOf(opened, event.stream_id);
  const slot = opened.slots[index];
  if (slot === undefined) return opened;
  if (event.type === 'stream_end' && !isOpen(slot)) {
    onGap('stream_reused');
    return opened;
  }
  if (event.type === 'text_retract' && event.from > slot.text.length) onGap('text_missing');
  const next = { ...opened, slots: opened.slots.with(index, foldSlot(slot, event, textCharsMax)) };
  switch (event.type) {
    case 'approval_required':
      return ask(next, index, event);
    case 'stream_end':
      return endTurn(next, slot, event);
    default:
      return next;
  }
}

/** The run after its `done`. A turn without an end is lost. */
export function endRun(run: Run, event: Done, onGap: OnGap): Run {
  const missing = run.isWhole ? findMissing(run, event) : undefined;
  if (missing !== undefined) onGap(missing);
  return {
    ...loseTurns(run, event.ts),
    requestId: event.request_id,
    sessionId: event.session_id,
    state: event.ok ? 'ok' : 'failed',
    endedAt: event.ts,
    durationMs: event.duration_ms,
    content: event.content,
    error: event.error ?? (event.ok ? null : run.error),
    errorCode: event.error_code ?? (event.ok ? null : run.errorCode),
    isWhole: run.isWhole && missing === undefined,
  };
}

/** A run whose end was not seen. */
export function endLostRun(run: Run, time: number | null): Run {
  return { ...loseTurns(run, time), state: 'lost', endedAt: time, isWhole: false };
}

/** The index of the slot of a turn; -1 if there is none. */
export function indexOf({ slots }: Run, streamId: number): number {
  // Nearly always the index is the stream id: ids have no gaps, and most turns open in order.
  return slots[streamId]?.streamId === streamId ? streamId : slots.findLastIndex((slot) => slot.streamId === streamId);
}

function openTurn(run: Run, event: StreamStart, onGap: OnGap): Run {
  if (indexOf(run, event.stream_id) !== -1) {
    onGap('stream_reused');
    return run;
  }
  const opened = addSlot(run, startSlot(event));
  const parent = event.parent_stream_id === null ? -1 : indexOf(opened, event.parent_stream_id);
  return updateSlot(opened, parent, (slot) => countChild(slot, 1, event));
}

/** The run with a slot for this event; a slot that was never opened is opened with the fields of the event. */
function withTurn(run: Run, event: StreamEvent, onGap: OnGap): Run {
  if (indexOf(run, event.stream_id) !== -1) return run;
  // A reader that joined in the middle does not know the turns that started before: that is not a gap.
  if (run.isWhole) onGap('stream_not_started');
  return addSlot(run, openSlot(event));
}

function addSlot(run: Run, slot: Slot): Run {
  const highestStreamId = Math.max(run.highestStreamId, slot.streamId);
  const slots = [...run.slots, slot];
  if (slots.length <= limits.slotsPerRunMax) return { ...run, slots, highestStreamId };
  const oldest = Math.max(
    0,
    slots.findIndex((one) => !isOpen(one)),
  );
  return { ...run, slots: slots.toSpliced(oldest, 1), slotsDropped: run.slotsDropped + 1, highestStreamId };
}

function updateSlot(run: Run, index: number, update: (slot: Slot) => Slot): Run {
  const slot = run.slots[index];
  return slot === undefined ? run : { ...run, slots: run.slots.with(index, update(slot)) };
}

function ask(run: Run, index: number, event: ApprovalRequired): Run {
  if (findOpen(run.approvals, event.tool_use_id) !== undefined) return run;
  const asked = { ...run, approvals: [...run.approvals, toApproval(event, run)] };
  return updateSlot(asked, index, (slot) => awaitApproval(slot, 1, event));
}

function endTurn(run: Run, slot: Slot, event: Extract<StreamEvent, { type: 'stream_end' }>): Run {
  const parent = slot.parentStreamId === null ? -1 : indexOf(run, slot.parentStreamId);
  const counted = updateSlot(run, parent, (one) => countChild(one, -1, event));
  // A turn may end because it needs a decision: then the approval stays pending.
  if (event.stop_reason === 'requires_action') return counted;
  return { ...counted, approvals: withdrawApprovals(run.approvals, ({ streamId }) => streamId === slot.streamId) };
}

function loseTurns(run: Run, time: number | null): Run {
  const slots = run.slots.some(isOpen)
    ? run.slots.map((slot) => (isOpen(slot) ? { ...closeSlot(slot, 'lost', time), openChildren: 0 } : slot))
    : run.slots;
  const lost = new Set(run.slots.filter(isOpen).map(({ streamId }) => streamId));
  return { ...run, slots, approvals: withdrawApprovals(run.approvals, ({ streamId }) => lost.has(streamId)) };
}

function findMissing(run: Run, event: Done): GapReason | undefined {
  const { inputTokens, outputTokens } = run.totals.usage;
  if (run.slots.some(isOpen)) return 'stream_not_ended';
  if (run.totals.turns !== run.highestStreamId + 1) return 'streams_missing';
  if (inputTokens !== event.input_tokens || outputTokens !== event.output_tokens) return 'totals_differ';
  return undefined;
}
