import { inBackground } from './connection/in-background.ts';
import type { FleetEvent, SessionSlots } from '@fleetloom/protocol/fleet';
import { readLog } from './connection/read-log.ts';
import { Replay } from '../model/replay.ts';
import type { SessionModel } from '../model/session-model.ts';
import { Signal } from './signal.ts';

/** Playback speeds to choose from. */
export const speeds = [1, 4, 16] as const;

/** The store whose sessions are replayed. */
export interface ReplayedStore {
  sessionsBetween(from: number, to: number): readonly SessionModel[];
  /** Reports that the moment changed. */
  notify(): void;
}

/** Replays a session: play, step, seek. During a replay, every page shows the same moment. */
export class ReplayPlayer {
  readonly changed = new Signal();
  speed: number = 1;
  isSkippingIdle = true;
  isPlaying = false;
  isReading = false;
  /** Number of events up to the moment shown. */
  count = 0;
  /** The moment shown. Undefined without a replay. */
  time: number | undefined;
  #replay: Replay | undefined;
  /** Other sessions of the same time. */
  #others: readonly Replay[] = [];
  #reading = new AbortController();
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #store: ReplayedStore;

  constructor(store: ReplayedStore) {
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
    return this.#replay?.slotsAfter(this.count);
  }

  /** Cursor of the last event up to the moment shown. Undefined if the session is shown live. */
  cursorIn(sessionId: string): string | undefined {
    if (!this.isOn || this.#replay?.session.id !== sessionId) return undefined;
    return this.#replay.eventAt(Math.max(0, this.count - 1))?.cursor;
  }

  /** Position of the last event up to the moment shown in the session's log. Undefined if the session is shown live. */
  seqIn(sessionId: string): number | undefined {
    const cursor = this.cursorIn(sessionId);
    // A cursor is `seq` or `seq.index`.
    return cursor === undefined ? undefined : Number.parseInt(cursor, 10);
  }

  /** The other sessions at the moment shown, without sessions that started later. */
  others(): readonly { readonly session: SessionModel; readonly slots: SessionSlots }[] {
    const { time } = this;
    if (time === undefined) return [];
    return this.#others.flatMap((other) => {
      const count = other.countAt(time);
      return count === 0 ? [] : [{ session: other.session, slots: other.slotsAfter(count) }];
    });
  }

  /** Loads the log of a session and shows the moment. */
  async open(session: SessionModel, time: number): Promise<void> {
    const reading = this.#cancelReading();
    if (this.#replay?.session.id !== session.id || this.#replay.endedAt < time) {
      this.isReading = true;
      this.changed.emit();
      try {
        const replay = await readReplay(session, reading);
        // The user opened another replay or went back to live in the meantime.
        if (reading.aborted) return;
        this.#replay = replay;
      } catch (error) {
        if (reading.aborted) return;
        throw error;
      } finally {
        if (!reading.aborted) this.isReading = false;
      }
      this.#others = [];
      inBackground(this.#readOthers(this.#replay, reading));
    }
    this.seek(time);
  }

  /** Cancels the load in progress, and returns the signal of the next one. */
  #cancelReading(): AbortSignal {
    this.#reading.abort();
    this.#reading = new AbortController();
    this.isReading = false;
    return this.#reading.signal;
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
    this.#cancelReading();
    this.pause();
    this.time = undefined;
    this.#replay = undefined;
    this.#others = [];
    this.#notify();
  }

  /** Loads the other sessions of the same time, one after the other, because every page shows the moment of the replay. */
  async #readOthers(main: Replay, signal: AbortSignal): Promise<void> {
    for (const session of this.#store.sessionsBetween(main.startedAt, main.endedAt)) {
      if (session.id === main.session.id) continue;
      const other = await readReplay(session, signal).catch(() => undefined);
      // The user went back to live, or to another session, in the meantime.
      if (this.#replay !== main) return;
      if (other === undefined) continue;
      this.#others = [...this.#others, other];
      this.#notify();
    }
  }

  #advance(ms: number): void {
    const replay = this.#replay;
    if (replay === undefined || this.time === undefined) return this.pause();
    let next = this.time + ms;
    const following = replay.eventAt(this.count)?.ts;
    // Skip to the next event.
    if (this.isSkippingIdle && following != null && following - this.time > IDLE_MS && next < following)
      next = following;
    this.seek(next);
    if (next >= replay.endedAt) this.pause();
  }

  #show(count: number, time: number): void {
    this.count = count;
    this.time = time;
    this.#notify();
  }

  #notify(): void {
    this.#store.notify();
    this.changed.emit();
  }
}

const PLAY_MS = 50;
const IDLE_MS = 2_000;

async function readReplay(session: SessionModel, signal: AbortSignal): Promise<Replay> {
  const log: FleetEvent[] = [];
  for await (const events of readLog(session.id, signal)) for (const event of events) log.push(event);
  return new Replay(session, log);
}
