import type { FleetEvent, Slot, TokenUsage } from '@fleetloom/protocol/fleet';
import { limits } from '../limits.ts';
import type { StateId } from './states.ts';
import { type CustomTools, toStateId } from './thread-state.ts';

/** A time in which a thread was in one state. Open at the end while it lasts. */
export interface Segment {
  readonly from: number;
  to: number | null;
  readonly state: StateId;
  /** The tool, for those that run one. */
  readonly label: string;
}

/** A moment that somebody may look for. */
export interface Mark {
  readonly at: number;
  readonly kind: 'spawn' | 'approval' | 'error' | 'compaction' | 'conflict' | 'retry';
  readonly label: string;
}

/** What a model request took, when it was over. */
export interface Spent {
  readonly at: number;
  readonly tokens: number;
}

/** Something that a second was spent on: how many characters an agent has written in it. */
interface Pulse {
  readonly second: number;
  chars: number;
}

/**
 * What a thread did over time, beside what it is now: the slots say that. It only grows, and everything in it has a time, so
 * that any earlier moment can be drawn from it by leaving out what came later.
 */
export class ThreadTrack {
  readonly key: string;
  readonly segments: Segment[] = [];
  readonly marks: Mark[] = [];
  readonly pulses: Pulse[] = [];
  /** When each model request began. */
  readonly requestTimes: number[] = [];
  readonly spent: Spent[] = [];
  /** When each call began, and when something failed: a call or the turn. */
  readonly callTimes: number[] = [];
  readonly failureTimes: number[] = [];
  /** When a request was refused because its endpoint has too many of them (429, 529), or failed otherwise and is made again. */
  readonly refusalTimes: number[] = [];
  readonly retryTimes: number[] = [];
  /** What it thought, by the number of the request. */
  readonly thoughts = new Map<number, string>();
  /** Who started it, and when. */
  spawnedBy: { readonly key: string; readonly at: number } | undefined;
  endedAt: number | null = null;

  constructor(key: string) {
    this.key = key;
  }

  /** The slot is that of its turn, with the event folded in. */
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
        this.#mark(ts, 'compaction', 'the context was summed up');
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
      // Nothing is seen of what lasted no time, and a lane of thousands of them is slow to draw.
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

/** The newest of them. */
function keep<Item>(items: Item[], item: Item): void {
  if (items.push(item) > limits.timesMax) items.shift();
}

function tokensIn(usage: TokenUsage): number {
  return usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_create_tokens;
}
