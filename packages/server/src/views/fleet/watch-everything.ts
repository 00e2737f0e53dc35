import { setMaxListeners } from 'node:events';
import { encodeEvent } from '@fleetloom/protocol/sse';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Cancel, Schedule } from '../../base/schedule.ts';
import type { Store } from '../../store/store.ts';
import type { EncodedEvent } from './encoded-event.ts';
import { Checkpoints } from './checkpoints.ts';
import { findRunSince } from './find-run.ts';
import type { FleetChannels } from './fleet-channels.ts';
import type { FleetToken } from './fleet-token.ts';
import type { FleetViewOptions } from './fleet-view.ts';
import { type KnownSession, KnownSessions, noteEvent } from './known-sessions.ts';
import { listSessions, newestRunOf } from './list-sessions.ts';
import { behindFrame, type Place } from './place.ts';
import { readFleet, watchFleet } from './watch-fleet.ts';

/** Where the events go. */
export interface FleetSink {
  readonly signal: AbortSignal;
  /** False: wait for `room` before giving more. */
  send(bytes: Uint8Array): boolean;
  room(): Promise<void>;
}

export interface WatchEverything {
  readonly channels: FleetChannels;
  readonly workspaceId: string;
  readonly options: FleetViewOptions;
  /** Where the reader is; null: it has nothing. */
  readonly token: FleetToken | null;
  /** Without what has happened before. */
  readonly isLive: boolean;
  readonly isFollowed: boolean;
  readonly clock: Pick<Clock, 'now'>;
  readonly schedule: Schedule;
  readonly sink: FleetSink;
  readonly onMishap: (error: unknown) => void;
  /** Sessions that are told of at the same time, and those that are looked at to find them. */
  readonly watchedMax?: number;
  readonly scannedMax?: number;
}

/**
 * All sessions of a workspace on one stream, until its reader goes: runs that go on from their beginning, and those that
 * begin. Each event has the cursor of its session, and now and then an id alone says where the reader is in all of them.
 */
export async function watchEverything(request: WatchEverything): Promise<void> {
  const watch = new EverythingWatch(request);
  const { store } = request.channels;
  // Each session that is watched waits for it.
  setMaxListeners(limits.fleetWatchedSessionsMax + 10, request.sink.signal);
  const unsubscribe = store.subscribe((signals) => {
    for (const { type, sessionId } of signals) {
      if (type === 'frames') watch.notice(sessionId);
      else if (type === 'deleted') watch.tellDeleted(sessionId);
    }
  });
  try {
    await watch.begin();
    if (!request.isFollowed) return;
    watch.keepLooking();
    await aborted(request.sink.signal);
  } finally {
    unsubscribe();
    watch.end();
  }
}

class EverythingWatch {
  readonly #request: WatchEverything;
  readonly #store: Store;
  readonly #known = new KnownSessions();
  readonly #checkpoints: Checkpoints;
  /** Of other workspaces: nothing about them is looked up twice. */
  readonly #foreign = new Set<string>();
  /** Being looked at; true if something has happened since. */
  readonly #looking = new Map<string, boolean>();
  /** More than can be watched at once. */
  readonly #waiting = new Set<string>();
  /** Runs that began before are told only if the reader was told of them. */
  readonly #since: number;
  #watched = 0;
  #hasBegun = false;
  #cancelLook: Cancel = () => {};

  constructor(request: WatchEverything) {
    const { clock, schedule, sink, token, channels } = request;
    this.#request = request;
    this.#store = channels.store;
    this.#since = token?.since ?? clock.now() - limits.fleetMarginMs;
    const send = (bytes: Uint8Array) => sink.send(bytes);
    const notFoundSince = () => (this.#hasBegun ? undefined : this.#since);
    this.#checkpoints = new Checkpoints({ known: this.#known, clock, schedule, send, notFoundSince });
  }

  async begin(): Promise<void> {
    const { token, isFollowed, sink, workspaceId, scannedMax } = this.#request;
    // All of them before any is told of: the reader is told where it is in all of them.
    for (const [sessionId, place] of token?.places ?? []) this.#known.add(sessionId, toKnown(place));
    for (const sessionId of token?.places.keys() ?? []) await this.#resume(sessionId);
    // However old they are: what ran and ended meanwhile is among those that changed. Some were archived since.
    const changed = { workspaceId, updatedFrom: this.#since, includeArchived: true };
    for (const filter of [...(token === null ? [] : [changed]), { workspaceId }]) {
      for await (const session of listSessions(this.#store, filter, scannedMax)) {
        if (sink.signal.aborted) return;
        if (this.#known.get(session.id) === undefined) await this.#meet(session);
      }
    }
    this.#hasBegun = true;
    this.#checkpoints.send();
    if (isFollowed) for (const sessionId of this.#looking.keys()) void this.#look(sessionId);
  }

  /** Signals are hints. What they did not say is found by looking. */
  keepLooking(): void {
    this.#cancelLook = this.#request.schedule(() => {
      const looked = this.#lookAround().catch(this.#request.onMishap);
      void looked.then(() => this.#request.sink.signal.aborted || this.keepLooking());
    }, limits.fleetLookMs);
  }

  end(): void {
    this.#cancelLook();
    this.#checkpoints.end();
  }

  /** Something happened in a session. */
  notice(sessionId: string): void {
    if (!this.#request.isFollowed || this.#request.sink.signal.aborted) return;
    if (this.#known.get(sessionId)?.isWatched === true || this.#foreign.has(sessionId)) return;
    if (this.#looking.has(sessionId)) return void this.#looking.set(sessionId, true);
    this.#looking.set(sessionId, false);
    if (this.#hasBegun) void this.#look(sessionId);
  }

  /** Those that are watched find out by themselves. */
  tellDeleted(sessionId: string): void {
    this.#foreign.delete(sessionId);
    this.#waiting.delete(sessionId);
    if (this.#known.get(sessionId)?.isWatched === false) this.#tellOver(sessionId);
  }

  async #look(sessionId: string): Promise<void> {
    try {
      do {
        this.#looking.set(sessionId, false);
        const session = await this.#store.sessions.get(this.#request.workspaceId, sessionId);
        if (session === undefined) this.#addForeign(sessionId);
        else await this.#meet(session);
      } while (this.#looking.get(sessionId) === true);
    } catch (error) {
      this.#request.onMishap(error);
    } finally {
      this.#looking.delete(sessionId);
    }
  }

  async #lookAround(): Promise<void> {
    const { workspaceId, clock } = this.#request;
    const atWork = listSessions(this.#store, { workspaceId, statuses: ['running', 'rescheduling'] });
    for await (const session of atWork) await this.#meet(session);
    // Some have begun and ended since the last look.
    const updatedFrom = clock.now() - limits.fleetMarginMs;
    const changed = listSessions(this.#store, { workspaceId, updatedFrom, includeArchived: true });
    for await (const session of changed) await this.#meet(session);
  }

  /** Begins to tell of a session if there is something new. */
  async #meet(session: SessionRecord): Promise<void> {
    const { id: sessionId } = session;
    const run = newestRunOf(session);
    const known = this.#known.get(sessionId);
    if (run === null || known?.isWatched === true) return;
    if (known !== undefined) {
      if (known.isOpen || known.runId !== run.id) await this.#tell(sessionId, known);
      return;
    }
    const isOpen = run.ended_at === null;
    if (!isOpen && run.started_at < this.#since) return;
    const place = await this.#findPlace(sessionId, isOpen ? Math.min(this.#since, run.started_at) : this.#since);
    if (place === undefined) return;
    const { id: runId, started_at: at } = run;
    const met = this.#known.add(sessionId, { ...toKnown(place), runId, runStartedAt: at, lastAt: at, isOpen });
    if (isOpen || !this.#skipsHistory) await this.#tell(sessionId, met);
  }

  get #skipsHistory(): boolean {
    const { isLive, token } = this.#request;
    return isLive && token === null && !this.#hasBegun;
  }

  async #findPlace(sessionId: string, time: number): Promise<Place | undefined> {
    if (this.#skipsHistory) return behindFrame((await this.#store.heads([sessionId])).get(sessionId) ?? 0);
    const before = await findRunSince(this.#store, sessionId, time);
    return before === undefined ? undefined : behindFrame(before);
  }

  async #resume(sessionId: string): Promise<void> {
    const session = await this.#store.sessions.get(this.#request.workspaceId, sessionId);
    if (session === undefined) return this.#tellOver(sessionId);
    const run = newestRunOf(session);
    const now = this.#request.clock.now();
    const known = this.#known.get(sessionId)!;
    Object.assign(known, { runStartedAt: run?.started_at ?? now, lastAt: now, isOpen: run?.ended_at === null });
    await this.#tell(sessionId, known);
  }

  /** Whatever comes behind a place: until its run ends, or if nobody waits for more, until now. */
  async #tell(sessionId: string, known: KnownSession): Promise<void> {
    const { channels, options, sink, isFollowed, onMishap } = this.#request;
    const { watchedMax = limits.fleetWatchedSessionsMax } = this.#request;
    if (this.#watched >= watchedMax) return void this.#waiting.add(sessionId);
    this.#known.add(sessionId, known);
    known.isWatched = true;
    this.#watched++;
    const request = { channels, sessionId, options, after: known.place };
    if (!isFollowed) await this.#pass(sessionId, known, readFleet(request));
    else void this.#pass(sessionId, known, watchFleet({ ...request, signal: sink.signal })).catch(onMishap);
  }

  async #pass(
    sessionId: string,
    known: KnownSession,
    events: AsyncGenerator<readonly EncodedEvent[], 'ended' | 'deleted'>,
  ): Promise<void> {
    try {
      while (true) {
        const step = await events.next();
        if (step.done === true) return step.value === 'deleted' ? this.#tellOver(sessionId) : undefined;
        await this.#give(known, step.value);
        // It rests. Whoever begins again is noticed.
        if (this.#request.isFollowed && step.value.at(-1)?.type === 'done') return;
      }
    } finally {
      known.isWatched = false;
      this.#watched--;
      // A next run may have begun before anybody could notice.
      await events.return('ended');
      this.notice(sessionId);
      this.#takeWaiting();
    }
  }

  async #give(known: KnownSession, events: readonly EncodedEvent[]): Promise<void> {
    const { sink } = this.#request;
    for (const event of events) {
      const hasRoom = sink.send(event.body);
      noteEvent(known, event);
      this.#checkpoints.count(event.body.length);
      if (!hasRoom) await sink.room();
    }
  }

  #takeWaiting(): void {
    const [first] = this.#waiting;
    if (first === undefined) return;
    this.#waiting.delete(first);
    this.notice(first);
  }

  #tellOver(sessionId: string): void {
    this.#known.delete(sessionId);
    const data = JSON.stringify({ session_id: sessionId, cursor: '', reason: 'the session was deleted' });
    const bytes = Buffer.from(encodeEvent({ event: 'over', data }));
    this.#request.sink.send(bytes);
    this.#checkpoints.count(bytes.length);
  }

  #addForeign(sessionId: string): void {
    this.#foreign.add(sessionId);
    const [oldest] = this.#foreign;
    if (this.#foreign.size > limits.fleetKnownSessionsMax) this.#foreign.delete(oldest!);
  }
}

/** A session of which nothing is known but where the reader is. */
function toKnown(place: Place): KnownSession {
  return { place, runId: undefined, runStartedAt: 0, lastAt: 0, isOpen: true, isWatched: false };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
