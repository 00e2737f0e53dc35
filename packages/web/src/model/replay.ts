import type { FleetEvent, SessionSlots } from '@fleetloom/protocol/fleet';
import { limits } from './limits.ts';
import { SessionModel } from './session-model.ts';

/**
 * A session at any moment of its log. The state after n events is the fold of the first n. Keyframes are kept at regular
 * intervals, which costs little because keyframes share unchanged parts; the state is folded from the nearest one.
 */
export class Replay {
  readonly session: SessionModel;
  readonly #log: readonly FleetEvent[];
  readonly #keyframes: SessionSlots[] = [];
  /** The state that was requested last. */
  #last: { readonly count: number; readonly slots: SessionSlots } | undefined;
  /** The time of each event; an event without a time has the time of the previous event. */
  readonly #times: number[] = [];

  constructor(whole: SessionModel, log: readonly FleetEvent[]) {
    this.session = new SessionModel(whole.id);
    if (whole.record !== undefined) this.session.describe(whole.record);
    this.#log = log;
    for (const [index, event] of log.entries()) {
      if (index % limits.keyframeEvents === 0) this.#keyframes.push(this.session.slots);
      this.session.fold(event);
      this.#times.push(event.ts ?? this.#times.at(-1) ?? 0);
    }
  }

  get length(): number {
    return this.#log.length;
  }

  get startedAt(): number {
    return this.#times[0] ?? 0;
  }

  get endedAt(): number {
    return this.#times.at(-1) ?? 0;
  }

  eventAt(index: number): FleetEvent | undefined {
    return this.#log[index];
  }

  timeAt(index: number): number {
    return this.#times[Math.max(0, Math.min(index, this.length - 1))] ?? 0;
  }

  /** The number of events up to a time. */
  countAt(time: number): number {
    let [low, high] = [0, this.#times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#times[middle]! <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The state after the first `count` events. */
  slotsAfter(count: number): SessionSlots {
    const wanted = Math.max(0, Math.min(count, this.length));
    if (wanted === this.length) return this.session.slots;
    const frame = Math.floor(wanted / limits.keyframeEvents);
    const start = frame * limits.keyframeEvents;
    // A playing replay requests a slightly later state each time, which is folded from the last one.
    const isOnward = this.#last !== undefined && this.#last.count >= start && this.#last.count <= wanted;
    const from = isOnward ? this.#last! : { count: start, slots: this.#keyframes[frame] };
    const folding = new SessionModel(this.session.id);
    folding.slots = from.slots ?? folding.slots;
    for (let index = from.count; index < wanted; index++) folding.foldOnly(this.#log[index]!);
    this.#last = { count: wanted, slots: folding.slots };
    return folding.slots;
  }

  /** Steps one event forward or back, or to the next or previous start of a turn. */
  step(count: number, by: 'event' | 'turn', direction: 1 | -1): number {
    const end = direction === 1 ? this.length : 0;
    if (by === 'event') return count === end ? count : count + direction;
    for (let next = count + direction; next > 0 && next < this.length; next += direction) {
      if (this.#log[next - 1]?.type === 'stream_start') return next;
    }
    return end;
  }
}
