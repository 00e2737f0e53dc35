import {
  type CustomTools,
  type FleetEvent,
  type Slot,
  type StateId,
  type TokenUsage,
  toStateId,
} from '@fleetloom/protocol/fleet';
import { limits } from './limits.ts';

/** A period in which a thread was in one state. `to` is null while it lasts. */
export interface Segment {
  readonly from: number;
  to: number | null;
  readonly state: StateId;
  /** The tool of a segment in which a tool runs; otherwise empty. */
  readonly label: string;
}

/** A moment to mark on the timeline. */
export interface Mark {
  readonly at: number;
  readonly kind: 'spawn' | 'approval' | 'error' | 'compaction' | 'conflict' | 'retry' | 'rewind';
  readonly label: string;
}

/** The tokens of a model request, and the time of its end. */
export interface Spent {
  readonly at: number;
  readonly tokens: number;
}

/** How many characters an agent wrote in one second. */
interface Pulse {
  readonly second: number;
  chars: number;
}

/**
 * The history of a thread; its current state is in the slots. The history only grows, and every entry has a time, so that any
 * earlier moment can be drawn by leaving out later entries.
 */
export class ThreadTrack {
  readonly key: string;
  readonly segments: Segment[] = [];
  readonly marks: Mark[] = [];
  readonly pulses: Pulse[] = [];
  /** The start time of each model request. */
  readonly requestTimes: number[] = [];
  readonly spent: Spent[] = [];
  /** The start time of each call, and the time of each failure of a call or the turn. */
  readonly callTimes: number[] = [];
  readonly failureTimes: number[] = [];
  /** The times of requests rejected because the endpoint is overloaded (429, 529), and of requests that failed otherwise and are retried. */
  readonly refusalTimes: number[] = [];
  readonly retryTimes: number[] = [];
  /** The thinking of the thread, by the number of the request. */
  readonly thoughts = new Map<number, string>();
  /** The key of the thread that started this thread, and the time. */
  spawnedBy: { readonly key: string; readonly at: number } | undefined;
  endedAt: number | null = null;

  constructor(key: string) {
    this.key = key;
  }

  /** Adds an event, with the slot of its turn after the event. */
  take(event: FleetEvent, slot: Slot, customTools: CustomTools): void {
    const { ts } = event;
    if (ts === null) return;
    switch (event.type) {
      case 'text':
        this.#pulse(ts, event.delta.length);
        break;
      case 'thinking':
        this.#pulse(ts, event.delta.length);
        this.#think(event.delta);
        break;
      case 'agent_start':
        this.requestTimes.push(ts);
        break;
      case 'approval_required':
        this.#mark(ts, 'approval', `asks for ${event.tool}`);
        break;
      case 'token_usage':
        keep(this.spent, { at: ts, tokens: tokensIn(event) });
        break;
      case 'tool_start':
        keep(this.callTimes, ts);
        break;
      case 'tool_call':
        if (!event.ok) keep(this.failureTimes, ts);
        break;
      case 'error':
        keep(this.failureTimes, ts);
        this.#mark(ts, 'error', event.message);
        break;
      case 'request_retrying':
        keep(isRefusal(event.code) ? this.refusalTimes : this.retryTimes, ts);
        this.#mark(ts, 'retry', event.message);
        break;
      case 'context_compacted':
        this.#mark(ts, 'compaction', 'context compacted');
        break;
      case 'stream_end':
        this.endedAt = ts;
        break;
      case 'stream_start':
        this.endedAt = null;
        break;
      default:
        break;
    }
    this.enter(ts, slot, customTools);
  }

  /** Continues the lane in the state that the slot is in now. */
  enter(ts: number, slot: Slot, customTools: CustomTools): void {
    const state = toStateId(slot, null, customTools);
    const running =
      state === 'tool' || state === 'needs' ? slot.tools.findLast((tool) => tool.state === 'running') : undefined;
    const label = running?.tool ?? '';
    const last = this.segments.at(-1);
    if (last !== undefined && last.to === null) {
      if (last.state === state && last.label === label) return;
      last.to = ts;
      // A period of no length is invisible, and a lane with thousands of them is slow to draw.
      if (last.from === ts) this.segments.pop();
    }
    const isOver = state === 'done' || state === 'error' || state === 'cancelled';
    this.segments.push({ from: ts, to: isOver ? ts : null, state, label });
    if (this.segments.length > limits.segmentsMax) this.segments.splice(0, this.segments.length - limits.segmentsMax);
  }

  mark(ts: number, kind: Mark['kind'], label: string): void {
    this.#mark(ts, kind, label);
  }

  /** Characters in each of the last seconds up to a time, the oldest first. */
  pulsesUntil(now: number, seconds: number): readonly number[] {
    const last = Math.floor(now / 1_000);
    const counts = Array.from({ length: seconds }, () => 0);
    for (let index = this.pulses.length - 1; index >= 0; index--) {
      const pulse = this.pulses[index]!;
      const place = seconds - 1 - (last - pulse.second);
      if (place < 0) break;
      if (place < seconds) counts[place] = pulse.chars;
    }
    return counts;
  }

  #pulse(ts: number, chars: number): void {
    const second = Math.floor(ts / 1_000);
    const last = this.pulses.at(-1);
    if (last?.second === second) last.chars += chars;
    else if (this.pulses.push({ second, chars }) > limits.pulsesMax) this.pulses.shift();
  }

  #think(delta: string): void {
    const request = this.requestTimes.length - 1;
    const before = this.thoughts.get(request) ?? '';
    if (before.length < limits.thoughtCharsMax) this.thoughts.set(request, before + delta);
    const [oldest] = this.thoughts.keys();
    if (this.thoughts.size > limits.thoughtsMax) this.thoughts.delete(oldest!);
  }

  #mark(at: number, kind: Mark['kind'], label: string): void {
    if (this.marks.push({ at, kind, label }) > limits.marksMax) this.marks.shift();
  }
}

function isRefusal(code: string): boolean {
  return code === 'model_rate_limited_error' || code === 'model_overloaded_error';
}

/** Appends an item and keeps the newest. */
function keep<Item>(items: Item[], item: Item): void {
  if (items.push(item) > limits.timesMax) items.shift();
}

function tokensIn(usage: TokenUsage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_create_tokens;
}
