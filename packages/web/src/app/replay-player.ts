import type { FleetEvent, SessionSlots } from '@fleetloom/protocol/fleet';
import { readLog } from '../connection/read-log.ts';
import { Replay } from '../model/replay.ts';
import type { SessionModel } from '../model/session-model.ts';
import type { FleetStore } from './fleet-store.ts';
import { Signal } from './signal.ts';

export const speeds = [1, 4, 16] as const;

/** Shows a session as it was: play, step, scrub. While it is on, the whole app shows that moment. */
export class ReplayPlayer {
  readonly changed = new Signal();
  speed: number = 1;
  isSkippingIdle = true;
  isPlaying = false;
  isReading = false;
  /** How many events have happened at the moment that is shown. */
  count = 0;
  /** The moment, in the time of the session. Undefined: live. */
  time: number | undefined;
  #replay: Replay | undefined;
  #slots: { readonly count: number; readonly slots: SessionSlots } | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #store: FleetStore;

  constructor(store: FleetStore) {
    this.#store = store;
  }

  get isOn(): boolean {
    return this.time !== undefined && this.#replay !== undefined;
  }

  get replay(): Replay | undefined {
    return this.#replay;
  }

  get session(): SessionModel | undefined {
    return this.#replay?.session;
  }

  get slots(): SessionSlots | undefined {
    if (this.#replay === undefined) return undefined;
    if (this.#slots?.count !== this.count)
      this.#slots = { count: this.count, slots: this.#replay.slotsAfter(this.count) };
    return this.#slots.slots;
  }

  /** Reads the log as far as it goes and shows the moment. */
  async open(session: SessionModel, time: number): Promise<void> {
    if (this.#replay?.session.id !== session.id || this.#replay.endedAt < time) {
      this.isReading = true;
      this.changed.emit();
      const log: FleetEvent[] = [];
      try {
        for await (const events of readLog(session.id, new AbortController().signal)) log.push(...events);
      } finally {
        this.isReading = false;
      }
      this.#replay = new Replay(session, log);
      this.#slots = undefined;
    }
    this.seek(time);
  }

  seek(time: number): void {
    const replay = this.#replay;
    if (replay === undefined) return;
    const within = Math.max(replay.startedAt, Math.min(time, replay.endedAt));
    this.#show(replay.countAt(within), within);
  }

  step(by: 'event' | 'turn', direction: 1 | -1): void {
    const replay = this.#replay;
    if (replay === undefined) return;
    this.pause();
    const count = replay.step(this.count, by, direction);
    this.#show(count, replay.timeAt(count - 1));
  }

  play(): void {
    if (!this.isOn) return;
    if (this.time! >= this.#replay!.endedAt) this.seek(this.#replay!.startedAt);
    this.isPlaying = true;
    let last = performance.now();
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#advance((now - last) * this.speed);
      last = now;
    }, PLAY_MS);
    this.changed.emit();
  }

  pause(): void {
    clearInterval(this.#timer);
    this.isPlaying = false;
    this.changed.emit();
  }

  toLive(): void {
    this.pause();
    this.time = undefined;
    this.#replay = undefined;
    this.#slots = undefined;
    this.#tell();
  }

  #advance(ms: number): void {
    const replay = this.#replay;
    if (replay === undefined || this.time === undefined) return this.pause();
    let next = this.time + ms;
    const following = replay.eventAt(this.count)?.ts;
    // Nothing happens for a while: go to where it goes on.
    if (this.isSkippingIdle && following != null && following - this.time > IDLE_MS && next < following)
      next = following;
    this.seek(next);
    if (next >= replay.endedAt) this.pause();
  }

  #show(count: number, time: number): void {
    this.count = count;
    this.time = time;
    this.#tell();
  }

  #tell(): void {
    this.#store.tell();
    this.changed.emit();
  }
}

const PLAY_MS = 50;
const IDLE_MS = 2_000;
