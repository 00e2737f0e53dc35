import { setMaxListeners } from 'node:events';
import { encodeEvent } from '@fleetloom/protocol/sse';
import { inBackground } from '../../base/in-background.ts';
import { storeLimits } from '../../store/limits.ts';
import { viewLimits } from '../limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { Store } from '../../store/store.ts';
import { Checkpoints } from './checkpoints.ts';
import {
  findChangedSessions,
  findFirstSessions,
  findRuns,
  findSessionRuns,
  type FoundRuns,
  withEventsBefore,
} from './find-runs.ts';
import { FleetSlots } from './fleet-slots.ts';
import { type KnownSession, KnownSessions } from './known-sessions.ts';
import { afterFrame, type FleetCursor } from './fleet-cursor.ts';
import type { WatchEverything } from './watch-request.ts';

/**
 * Finds the sessions of a workspace that one reader of all sessions is to receive, when the stream is opened and while it is
 * followed, and knows how far each of them was sent.
 */
export class EverythingWatch {
  readonly #request: WatchEverything;
  readonly #store: Store;
  readonly #known = new KnownSessions();
  readonly #checkpoints: Checkpoints;
  readonly #slots: FleetSlots;
  /** Sessions of other workspaces, which are not looked up again. */
  readonly #foreign = new Set<string>();
  /** Unknown sessions that are being looked up, with the heads that signals reported in the meantime. */
  readonly #looking = new Map<string, number>();
  /** Runs of unknown sessions that started before this time are not sent: the reader has them, or did not ask for them. */
  #since: number;
  /** When the last complete look began. The next look begins there, because a look may be late or fail for any time. */
  #lookedAt: number;
  #hasBegun = false;

  constructor(request: WatchEverything) {
    const { clock, schedule, sink, token, channels, isFollowed, onError } = request;
    this.#request = request;
    this.#store = channels.store;
    this.#lookedAt = clock.now();
    this.#since = token?.since ?? this.#lookedAt - viewLimits.fleetMarginMs;
    const send = (bytes: Uint8Array) => sink.send(bytes);
    const checkpoints = new Checkpoints({ known: this.#known, clock, schedule, send });
    this.#checkpoints = checkpoints;
    this.#slots = new FleetSlots({
      request,
      known: this.#known,
      checkpoints,
      onDeleted: (sessionId) => this.#sendOver(sessionId),
      onLeft: (sessionId) => isFollowed && !sink.signal.aborted && inBackground(this.#lookAgain(sessionId), onError),
    });
    // Each session that waits for its turn listens, and Node warns of more than ten listeners.
    setMaxListeners(2 * viewLimits.fleetCatchUpMax, sink.signal);
    sink.signal.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Finds the runs to send. If the reader follows, they are sent from then on. */
  async begin(): Promise<void> {
    const { token, isFollowed } = this.#request;
    // Until all runs are found, the reader's cursor must not pass the ones that are missing.
    this.#known.sinceMax = this.#since;
    for (const [sessionId, cursor] of token?.cursors ?? []) await this.#resume(sessionId, cursor);
    const isEarly = isFollowed && !this.#skipsHistory;
    const first = isEarly ? await this.#inTurn(() => this.#addFirst()) : [];
    if (isEarly) this.#open();
    await this.#inTurn(() => this.#addAll(new Set(first)));
    this.#hasBegun = true;
    this.#known.sinceMax = Number.POSITIVE_INFINITY;
    if (!isFollowed) return;
    if (isEarly) this.#slots.pump();
    else this.#open();
    for (const sessionId of this.#looking.keys()) this.#lookUp(sessionId);
  }

  #open(): void {
    this.#checkpoints.send();
    this.#slots.open();
  }

  /** The workspaces take turns: the work grows with their runs. */
  async #inTurn<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    const { channels, workspaceId, sink } = this.#request;
    return (await channels.turns.run(workspaceId, sink.signal, work))?.result;
  }

  /** Adds some of the newest runs, so that the first event does not wait until all are found. */
  async #addFirst(): Promise<readonly string[]> {
    const { workspaceId } = this.#request;
    const since = this.#since;
    const added: string[] = [];
    for (const sessionId of await findFirstSessions(this.#store, workspaceId, since)) {
      if (this.#known.get(sessionId) !== undefined) continue;
      const runs = await findSessionRuns(this.#store, sessionId, since);
      await yieldToEventLoop();
      if (runs === undefined || this.#known.get(sessionId) !== undefined) continue;
      this.#addFound(sessionId, runs);
      added.push(sessionId);
    }
    return added;
  }

  /** `sent`: sessions that were added before, and may have been sent and forgotten since. */
  async #addAll(sent: ReadonlySet<string>): Promise<void> {
    const { sink, workspaceId } = this.#request;
    const since = this.#since;
    const found = await findRuns(this.#store, workspaceId, since, sink.signal);
    for (const [sessionId, runs] of found) {
      if (this.#known.get(sessionId) === undefined && !sent.has(sessionId)) await this.#addRuns(sessionId, runs, since);
      await yieldToEventLoop();
      if (sink.signal.aborted) return;
    }
    const others = await this.#addChanged(found, since);
    if (this.#skipsHistory) await this.#skipToHeads([...found.keys(), ...others]);
  }

  /** Sends everything up to the present, and then the id of the stream. */
  async readAll(): Promise<void> {
    await this.#slots.readAll();
    if (!this.#request.sink.signal.aborted) this.#checkpoints.send();
  }

  end(): void {
    this.#checkpoints.end();
    this.#slots.end();
  }

  /** Called with the head of a session's log, by a signal or by `look`. */
  notice(sessionId: string, head: number): void {
    if (!this.#request.isFollowed || this.#request.sink.signal.aborted) return;
    const known = this.#known.get(sessionId);
    if (known !== undefined) return this.#enqueue(sessionId, known, head);
    if (this.#foreign.has(sessionId)) return;
    const isNew = !this.#looking.has(sessionId);
    this.#looking.set(sessionId, Math.max(head, this.#looking.get(sessionId) ?? 0));
    if (isNew && this.#hasBegun) this.#lookUp(sessionId);
  }

  /** A followed session detects its deletion on its own. */
  noticeDeleted(sessionId: string): void {
    this.#foreign.delete(sessionId);
    this.#slots.delete(sessionId);
    if (this.#known.get(sessionId)?.isWatched === false) this.#sendOver(sessionId);
  }

  /**
   * Finds what lost signals would have reported: open runs, recent runs, events of idle sessions, and new frames of open sessions
   * without a slot.
   */
  async look(): Promise<void> {
    await this.#inTurn(() => this.#noticeAll());
    this.#slots.retryFailed();
    this.#slots.pump();
  }

  async #noticeAll(): Promise<void> {
    const { workspaceId, clock, sink } = this.#request;
    const startedAt = clock.now();
    const since = Math.min(startedAt, this.#lookedAt) - viewLimits.fleetMarginMs;
    const found = await findRuns(this.#store, workspaceId, since, sink.signal);
    const changed = await findChangedSessions(this.#store, workspaceId, since, sink.signal);
    for (const sessionIds of toPages([...new Set([...found.keys(), ...changed, ...this.#known.listOpen()])])) {
      const heads = await this.#store.heads(sessionIds);
      for (const [sessionId, head] of heads) this.notice(sessionId, head);
      await yieldToEventLoop();
    }
    this.#lookedAt = startedAt;
  }

  get #skipsHistory(): boolean {
    const { isLive, token } = this.#request;
    return isLive && token === null && !this.#hasBegun;
  }

  async #resume(sessionId: string, cursor: FleetCursor): Promise<void> {
    const { workspaceId, clock } = this.#request;
    const session = await this.#store.sessions.get(workspaceId, sessionId);
    const head = (await this.#store.heads([sessionId])).get(sessionId);
    if (session === undefined || head === undefined) return this.#sendOver(sessionId);
    const run = await this.#store.runs.findAt(sessionId, head);
    const times = { runStartedAt: run?.startedAt ?? clock.now(), lastAt: clock.now() };
    // Some events of the last frame may be missing.
    const seq = Number.isFinite(cursor.index) ? cursor.seq - 1 : cursor.seq;
    const isOpen = run !== undefined && run.lastSeq === null;
    this.#add(sessionId, { cursor, seq, ...times, isOpen, isPending: head > seq, isWatched: false });
  }

  /** Adds sessions without a recent run that have events since, such as an error between two runs. */
  async #addChanged(found: ReadonlyMap<string, FoundRuns>, since: number): Promise<string[]> {
    const { workspaceId, sink } = this.#request;
    const added: string[] = [];
    for (const sessionId of await findChangedSessions(this.#store, workspaceId, since, sink.signal)) {
      await yieldToEventLoop();
      if (sink.signal.aborted) return added;
      if (found.has(sessionId) || this.#known.get(sessionId) !== undefined) continue;
      const runs = await findSessionRuns(this.#store, sessionId, since);
      if (runs === undefined || this.#known.get(sessionId) !== undefined) continue;
      this.#addFound(sessionId, runs);
      added.push(sessionId);
    }
    return added;
  }

  /** An error between two runs is sent before the run that followed it. */
  async #addRuns(sessionId: string, runs: FoundRuns, since: number): Promise<void> {
    const isOlder = runs.startedAt < since;
    if (isOlder || this.#skipsHistory) return this.#addFound(sessionId, runs);
    const all = await withEventsBefore(this.#store, sessionId, runs, since);
    // A signal may have added it in the meantime.
    if (this.#known.get(sessionId) === undefined) this.#addFound(sessionId, all);
  }

  #addFound(sessionId: string, { firstSeq, startedAt, isOpen }: FoundRuns): void {
    const times = { runStartedAt: startedAt, lastAt: startedAt };
    const cursor = afterFrame(firstSeq - 1);
    this.#add(sessionId, { cursor, seq: cursor.seq, ...times, isOpen, isPending: true, isWatched: false });
  }

  async #skipToHeads(sessionIds: readonly string[]): Promise<void> {
    for (const some of toPages(sessionIds)) {
      for (const [sessionId, head] of await this.#store.heads(some)) {
        const known = this.#known.get(sessionId)!;
        Object.assign(known, { cursor: afterFrame(head), seq: head, isPending: false });
        this.#slots.delete(sessionId);
      }
      await yieldToEventLoop();
    }
  }

  #add(sessionId: string, session: KnownSession): void {
    this.#known.add(sessionId, session);
    if (session.isPending) this.#slots.add(sessionId, session);
    this.#since = Math.max(this.#since, this.#known.forgetOldest(this.#request.clock.now()) + 1);
  }

  #lookUp(sessionId: string): void {
    inBackground(this.#lookUpRuns(sessionId), (error) => {
      this.#looking.delete(sessionId);
      this.#request.onError(error);
    });
  }

  /** Looks up an unknown session. */
  async #lookUpRuns(sessionId: string): Promise<void> {
    const session = await this.#store.sessions.get(this.#request.workspaceId, sessionId);
    const runs = session && (await findSessionRuns(this.#store, session.id, this.#since));
    const said = this.#looking.get(sessionId) ?? 0;
    this.#looking.delete(sessionId);
    if (runs === undefined) return this.#addForeign(sessionId);
    // `begin` may have found it in the meantime.
    if (this.#known.get(sessionId) === undefined) this.#addFound(sessionId, runs);
    this.#enqueue(sessionId, this.#known.get(sessionId)!, said);
    this.#slots.pump();
  }

  #enqueue(sessionId: string, known: KnownSession, head: number): void {
    if (head <= known.seq) return;
    known.isPending = true;
    this.#slots.add(sessionId, known);
    this.#slots.pump();
  }

  /** Frames may have been written since the last event was sent. */
  async #lookAgain(sessionId: string): Promise<void> {
    const head = (await this.#store.heads([sessionId])).get(sessionId);
    const known = this.#known.get(sessionId);
    if (known === undefined || known.isWatched || this.#request.sink.signal.aborted) return;
    if (head === undefined) this.#sendOver(sessionId);
    else this.#enqueue(sessionId, known, head);
  }

  #sendOver(sessionId: string): void {
    this.#known.delete(sessionId);
    const data = JSON.stringify({ session_id: sessionId, cursor: '', reason: 'the session was deleted' });
    const bytes = Buffer.from(encodeEvent({ event: 'over', data }));
    this.#request.sink.send(bytes);
    this.#checkpoints.count(bytes.length);
  }

  #addForeign(sessionId: string): void {
    this.#foreign.add(sessionId);
    const [oldest] = this.#foreign;
    if (this.#foreign.size > viewLimits.fleetKnownSessionsMax) this.#foreign.delete(oldest!);
  }
}

function toPages(sessionIds: readonly string[]): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < sessionIds.length; at += storeLimits.recordPageItemsMax) {
    pages.push(sessionIds.slice(at, at + storeLimits.recordPageItemsMax));
  }
  return pages;
}
