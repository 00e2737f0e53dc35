import { createSlots, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import { Activity } from './activity.ts';
import { BurnRate } from './burn-rate.ts';
import type { Scene } from './seen.ts';
import { Transcript } from './transcript.ts';

/**
 * A session at one of its events. All events are kept, and snapshots at intervals, so that a step back costs no more than a
 * step forward.
 */
export class Replay implements Scene {
  readonly #events: FleetEvent[] = [];
  /** A snapshot before every `EVERY`th event. */
  readonly #marks: SessionSlots[] = [createSlots({ textCharsMax: limits.lineCharsMax })];
  #newest: SessionSlots = this.#marks[0]!;
  /** The position: number of applied events. */
  #at = 0;
  #scene: ReturnType<Replay['recall']> | undefined;
  /** Whether all events are loaded. */
  isLoaded = false;
  /** Number of events beyond the limit. */
  left = 0;

  get at(): number {
    return this.#at;
  }

  get length(): number {
    return this.#events.length;
  }

  /** Adds an event while loading. A position at the end follows the end; any other position stays. */
  load(event: FleetEvent): void {
    if (this.#events.length >= limits.replayEventsMax) {
      this.left += 1;
      return;
    }
    const isAtEnd = this.#at === this.#events.length;
    this.#events.push(event);
    this.#newest = foldSlots(this.#newest, event);
    if (this.#events.length % EVERY === 0) this.#marks.push(this.#newest);
    if (isAtEnd) this.#go(this.#events.length);
  }

  step(count: number): void {
    this.#go(Math.max(Math.min(1, this.length), Math.min(this.length, this.#at + count)));
  }

  /** Moves to the next start or end of a turn. */
  stepTurn(direction: 1 | -1): void {
    let at = this.#at + direction;
    while (at > 1 && at < this.length && !isTurn(this.#events[at - 1])) at += direction;
    this.step(at - this.#at);
  }

  /** The time of the current event. */
  get nowMs(): number {
    return this.#events[this.#at - 1]?.ts ?? this.slots.lastAt ?? 0;
  }

  /** The current event. */
  get event(): FleetEvent | undefined {
    return this.#events[this.#at - 1];
  }

  get slots(): SessionSlots {
    return this.#recalled().slots;
  }

  get activity(): Activity {
    return this.#recalled().activity;
  }

  get burn(): BurnRate {
    return this.#recalled().burn;
  }

  /** Always empty, because nothing can be decided in a replay. */
  readonly calls = new Map<string, never>();

  transcriptOf(key: string): Transcript {
    const scene = this.#recalled();
    const known = scene.transcripts.get(key);
    if (known !== undefined) return known;
    const transcript = new Transcript();
    for (const event of this.#events.slice(0, this.#at))
      if ('thread_id' in event && event.thread_id === key) transcript.take(event);
    scene.transcripts.set(key, transcript);
    return transcript;
  }

  #go(at: number): void {
    this.#at = at;
    this.#scene = undefined;
  }

  #recalled(): ReturnType<Replay['recall']> {
    return (this.#scene ??= this.recall());
  }

  private recall() {
    const mark = Math.floor(this.#at / EVERY);
    let slots = this.#marks[mark]!;
    for (const event of this.#events.slice(mark * EVERY, this.#at)) slots = foldSlots(slots, event);
    const activity = new Activity();
    const burn = new BurnRate();
    for (const event of this.#lastMinute()) {
      activity.take(event);
      burn.take(event);
    }
    return { slots, activity, burn, transcripts: new Map<string, Transcript>() };
  }

  #lastMinute(): FleetEvent[] {
    const sinceMs = this.nowOf(this.#at) - MINUTE_MS;
    const first = this.#events.findLastIndex(({ ts }, index) => index < this.#at && ts !== null && ts < sinceMs);
    return this.#events.slice(first + 1, this.#at);
  }

  private nowOf(at: number): number {
    return this.#events[at - 1]?.ts ?? 0;
  }
}

const EVERY = 256;
const MINUTE_MS = 60_000;

function isTurn(event: FleetEvent | undefined): boolean {
  return event?.type === 'stream_start' || event?.type === 'stream_end' || event?.type === 'done';
}
