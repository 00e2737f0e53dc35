import { inBackground } from '../../base/in-background.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { EncodedEvent } from './encoded-event.ts';
import { type KnownSession, type KnownSessions, noteEvent } from './known-sessions.ts';
import type { WatchEverything } from './watch-request.ts';
import { readFleet, watchFleet } from './watch-fleet.ts';

export interface FleetSlotsOptions {
  readonly request: WatchEverything;
  readonly known: KnownSessions;
  readonly checkpoints: Checkpoints;
  readonly onDeleted: (sessionId: string) => void;
  /** Called when a session has left its slot. Frames may have been written since its last event was sent. */
  readonly onLeft: (sessionId: string) => void;
}

/**
 * Sends the events of sessions to one reader, a bounded number of sessions at the same time. A session without a free slot waits,
 * and costs a position in its log. A session that has no new events, or has sent many, makes room for waiting ones, so that
 * every session gets its turn.
 */
export class FleetSlots {
  readonly #options: FleetSlotsOptions;
  readonly #watchedMax: number;
  /** Sessions with new events and without a slot, in the order in which they get one. */
  readonly #waiting = new Set<string>();
  /** Sessions that could not be read. The next look retries them. */
  readonly #failed = new Set<string>();
  /** Sessions with a slot, in the order in which they got it. */
  readonly #followed = new Map<string, Followed>();
  /** Open sessions with a slot but without new events, in the order of their last event. */
  readonly #quiet = new Set<Followed>();
  /** Number of sessions with a slot whose past events are being sent. */
  #catchingUpCount = 0;
  /** Number of sessions that are leaving their slot. */
  #leavingCount = 0;
  /** Serialises sending: a slow reader buffers one batch of events, and not one per session. */
  #sending: Promise<void> = Promise.resolve();
  #isOpen = false;

  constructor(options: FleetSlotsOptions) {
    this.#options = options;
    this.#watchedMax = options.request.watchedMax ?? viewLimits.fleetWatchedSessionsMax;
  }

  /** Starts giving slots to waiting sessions. */
  open(): void {
    this.#isOpen = true;
    this.pump();
  }

  end(): void {
    this.#isOpen = false;
    for (const { leaving } of this.#followed.values()) leaving.abort();
  }

  /** Queues a session with new events. A followed session finds them on its own. */
  add(sessionId: string, { isWatched }: KnownSession): void {
    if (!isWatched) this.#waiting.add(sessionId);
  }

  delete(sessionId: string): void {
    this.#waiting.delete(sessionId);
    this.#failed.delete(sessionId);
  }

  retryFailed(): void {
    for (const sessionId of this.#failed) {
      if (this.#options.known.get(sessionId)?.isWatched === false) this.#waiting.add(sessionId);
    }
    this.#failed.clear();
  }

  /** Sends the events of all waiting sessions up to the present, one session after the other. */
  async readAll(): Promise<void> {
    for (const sessionId of this.#waiting) {
      if (this.#options.request.sink.signal.aborted) return;
      await this.#follow(sessionId, this.#options.known.get(sessionId)!);
    }
  }

  /** Gives slots to waiting sessions. */
  pump(): void {
    if (!this.#isOpen) return;
    for (const sessionId of this.#waiting) {
      if (this.#followed.size >= this.#watchedMax) return this.#makeRoom();
      // Thousands may wait when the stream is opened.
      if (this.#catchingUpCount >= viewLimits.fleetCatchUpMax) return;
      const known = this.#options.known.get(sessionId);
      if (known === undefined) this.#waiting.delete(sessionId);
      else inBackground(this.#follow(sessionId, known), this.#options.request.onError);
    }
  }

  /** Makes sessions without new events leave their slots, as many as sessions are waiting. */
  #makeRoom(): void {
    for (const followed of this.#quiet) {
      if (this.#leavingCount >= this.#waiting.size) return;
      this.#quiet.delete(followed);
      this.#leavingCount++;
      followed.isLeaving = true;
      followed.leaving.abort();
    }
  }

  /** Sends the events of a session while it has a slot. */
  async #follow(sessionId: string, known: KnownSession): Promise<void> {
    const followed: Followed = { leaving: new AbortController(), isLeaving: false, isCatchingUp: true, batches: 0 };
    this.#catchingUpCount++;
    this.#waiting.delete(sessionId);
    this.#followed.set(sessionId, followed);
    this.#options.known.add(sessionId, known);
    known.isWatched = true;
    let end: PassEnd = 'failed';
    try {
      end = await this.#pass(sessionId, known, followed);
    } finally {
      known.isWatched = false;
      this.#catchUp(followed);
      this.#followed.delete(sessionId);
      this.#quiet.delete(followed);
      if (followed.isLeaving) this.#leavingCount--;
      if (end === 'deleted') this.#options.onDeleted(sessionId);
      else if (end === 'failed') this.#failed.add(sessionId);
      else this.#options.onLeft(sessionId);
      this.pump();
    }
  }

  async #pass(sessionId: string, known: KnownSession, followed: Followed): Promise<PassEnd> {
    const { channels, options, isFollowed, sink } = this.#options.request;
    const { leaving } = followed;
    let endFirstStep = () => {};
    const isQuiet = new Promise<void>((resolve) => (endFirstStep = resolve));
    leaving.signal.addEventListener('abort', endFirstStep, { once: true });
    const onQuiet = (seq: number) => {
      known.seq = Math.max(known.seq, seq);
      known.isPending = false;
      endFirstStep();
      this.#catchUp(followed);
      // An idle session needs no slot, and an open one gives its slot to a waiting session.
      if (!known.isOpen) return leaving.abort();
      this.#quiet.add(followed);
      if (this.#waiting.size > 0) this.#makeRoom();
    };
    const request = { channels, sessionId, options, after: known.cursor, onQuiet };
    const isPast = !isFollowed || !known.isOpen;
    const events = isPast ? readFleet(request) : watchFleet({ ...request, signal: leaving.signal });
    try {
      while (true) {
        // A session that has caught up waits for new events for an unknown time.
        const next = followed.isCatchingUp ? this.#takeTurn(events, isQuiet) : undefined;
        const step = await (next === undefined ? events.next() : next);
        if (step === undefined) return 'left';
        if (step.done === true) {
          if (step.value === 'deleted') return 'deleted';
          // A followed session ends only when it leaves its slot. Any other end is retried later.
          return isPast || leaving.signal.aborted ? 'left' : 'failed';
        }
        this.#quiet.delete(followed);
        await this.#send(known, step.value);
        if (sink.signal.aborted || this.#hasToLeave(followed)) return 'left';
      }
    } finally {
      await events.return('ended');
    }
  }

  /** Reads the next past events when it is the turn of this workspace. Undefined: the reader has left. */
  async #takeTurn(
    events: ReturnType<typeof watchFleet>,
    isQuiet: Promise<void>,
  ): Promise<IteratorResult<readonly EncodedEvent[], 'ended' | 'deleted'> | undefined> {
    const { channels, workspaceId, sink } = this.#options.request;
    const taken = await channels.turns.run(workspaceId, sink.signal, async () => {
      // Steps of short sessions may resolve within one turn of the event loop.
      await yieldToEventLoop();
      const step = events.next();
      await Promise.race([step, isQuiet]);
      return { step };
    });
    return await taken?.result.step;
  }

  /** Called when the past events of a session are sent, or when it leaves its slot: the next session begins. */
  #catchUp(followed: Followed): void {
    if (!followed.isCatchingUp) return;
    followed.isCatchingUp = false;
    this.#catchingUpCount--;
    this.pump();
  }

  /** A session that has sent many events goes to the end of the queue. */
  #hasToLeave(followed: Followed): boolean {
    followed.batches++;
    const isFull = this.#followed.size >= this.#watchedMax || followed.isCatchingUp;
    return this.#waiting.size > 0 && isFull && followed.batches >= BATCHES_AT_ONCE;
  }

  async #send(known: KnownSession, events: readonly EncodedEvent[]): Promise<void> {
    const { sink } = this.#options.request;
    const sending = this.#sending.then(async () => {
      for (const event of events) {
        if (sink.signal.aborted) return;
        const hasRoom = sink.send(event.body);
        noteEvent(known, event);
        this.#options.checkpoints.count(event.body.length);
        if (!hasRoom) await sink.room();
      }
    });
    this.#sending = sending;
    await sending;
  }
}

/** A session that has a slot. */
interface Followed {
  readonly leaving: AbortController;
  /** The session is leaving its slot for a waiting one. */
  isLeaving: boolean;
  /** Past events of the session are being sent. */
  isCatchingUp: boolean;
  batches: number;
}

/** Why a session leaves its slot. `left`: it has no new events, or other sessions have their turn. */
type PassEnd = 'left' | 'deleted' | 'failed';

/** After so many batches of events a session makes room for a waiting one. */
const BATCHES_AT_ONCE = 16;
