import { encodeEvent } from '@fleetloom/protocol/sse';
import { inBackground } from '../../base/in-background.ts';
import { limits } from '../../base/limits.ts';
import { yieldToEventLoop } from '../../base/yield-to-event-loop.ts';
import type { SessionRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { Checkpoints } from './checkpoints.ts';
import { findRuns, type FoundRuns } from './find-runs.ts';
import { FleetSlots } from './fleet-slots.ts';
import { type KnownSession, KnownSessions } from './known-sessions.ts';
import { behindFrame, type Place } from './place.ts';
import type { WatchEverything } from './watch-everything.ts';

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
  /** Runs of unknown sessions that started earlier were sent already, or are not to be sent. */
  #since: number;
  #hasBegun = false;

  constructor(request: WatchEverything) {
    const { clock, schedule, sink, token, channels, isFollowed, onMishap } = request;
    this.#request = request;
    this.#store = channels.store;
    this.#since = token?.since ?? clock.now() - limits.fleetMarginMs;
    const send = (bytes: Uint8Array) => sink.send(bytes);
    const checkpoints = new Checkpoints({ known: this.#known, clock, schedule, send });
    this.#checkpoints = checkpoints;
    this.#slots = new FleetSlots({
      request,
      known: this.#known,
      checkpoints,
      onDeleted: (sessionId) => this.#sendOver(sessionId),
      onLeft: (sessionId) => isFollowed && inBackground(this.#lookAgain(sessionId), onMishap),
    });
    sink.signal.addEventListener('abort', () => this.end(), { once: true });
  }

  /** Finds the runs to send. If the reader follows, they are sent from then on. */
  async begin(): Promise<void> {
    const { token, sink, workspaceId } = this.#request;
    for (const [sessionId, place] of token?.places ?? []) await this.#resume(sessionId, place);
    const found = await findRuns(this.#store, workspaceId, this.#since, sink.signal);
    for (const [sessionId, runs] of found) {
      if (this.#known.get(sessionId) === undefined) this.#addFound(sessionId, runs);
      await yieldToEventLoop();
    }
    if (this.#skipsHistory) await this.#skipToHeads([...found.keys()]);
    this.#hasBegun = true;
    if (!this.#request.isFollowed) return;
    this.#checkpoints.send();
    this.#slots.open();
    for (const sessionId of this.#looking.keys()) this.#lookUp(sessionId);
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

  /** A signal, or a look, reports the head of a session's log. */
  notice(sessionId: string, head: number): void {
    if (!this.#request.isFollowed || this.#request.sink.signal.aborted) return;
    const known = this.#known.get(sessionId);
    if (known !== undefined) return this.#enqueue(sessionId, known, head);
    if (this.#foreign.has(sessionId)) return;
    const isNew = !this.#looking.has(sessionId);
    this.#looking.set(sessionId, Math.max(head, this.#looking.get(sessionId) ?? 0));
    if (isNew && this.#hasBegun) this.#lookUp(sessionId);
  }

  /** A followed session finds out on its own. */
  noticeDeleted(sessionId: string): void {
    this.#foreign.delete(sessionId);
    this.#slots.delete(sessionId);
    if (this.#known.get(sessionId)?.isWatched === false) this.#sendOver(sessionId);
  }

  /** Finds what lost signals would have reported: open runs, recent runs, and new frames of open sessions without a slot. */
  async look(): Promise<void> {
    const { workspaceId, clock, sink } = this.#request;
    const found = await findRuns(this.#store, workspaceId, clock.now() - limits.fleetMarginMs, sink.signal);
    for (const sessionIds of toPages([...new Set([...found.keys(), ...this.#known.listOpen()])])) {
      const heads = await this.#store.heads(sessionIds);
      for (const [sessionId, head] of heads) this.notice(sessionId, head);
      await yieldToEventLoop();
    }
    this.#slots.retryFailed();
    this.#slots.pump();
  }

  get #skipsHistory(): boolean {
    const { isLive, token } = this.#request;
    return isLive && token === null && !this.#hasBegun;
  }

  async #resume(sessionId: string, place: Place): Promise<void> {
    const { workspaceId, clock } = this.#request;
    const session = await this.#store.sessions.get(workspaceId, sessionId);
    const head = (await this.#store.heads([sessionId])).get(sessionId);
    if (session === undefined || head === undefined) return this.#sendOver(sessionId);
    const run = await this.#store.runs.findAt(sessionId, head);
    const times = { runStartedAt: run?.startedAt ?? clock.now(), lastAt: clock.now() };
    // Some events of the last frame may be missing.
    const seq = Number.isFinite(place.index) ? place.seq - 1 : place.seq;
    const isOpen = run !== undefined && run.lastSeq === null;
    this.#add(sessionId, { place, seq, ...times, isOpen, isPending: head > seq, isWatched: false });
  }

  #addFound(sessionId: string, { firstSeq, startedAt, isOpen }: FoundRuns): void {
    const times = { runStartedAt: startedAt, lastAt: startedAt };
    const place = behindFrame(firstSeq - 1);
    this.#add(sessionId, { place, seq: place.seq, ...times, isOpen, isPending: true, isWatched: false });
  }

  async #skipToHeads(sessionIds: readonly string[]): Promise<void> {
    for (const some of toPages(sessionIds)) {
      for (const [sessionId, head] of await this.#store.heads(some)) {
        const known = this.#known.get(sessionId)!;
        Object.assign(known, { place: behindFrame(head), seq: head, isPending: false });
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
      this.#request.onMishap(error);
    });
  }

  /** Looks up an unknown session. */
  async #lookUpRuns(sessionId: string): Promise<void> {
    const session = await this.#store.sessions.get(this.#request.workspaceId, sessionId);
    const head = (await this.#store.heads([sessionId])).get(sessionId);
    const runs = session === undefined || head === undefined ? undefined : await this.#findRuns(session, head);
    const said = this.#looking.get(sessionId) ?? 0;
    this.#looking.delete(sessionId);
    if (runs === undefined) return this.#addForeign(sessionId);
    // `begin` may have found it in the meantime.
    if (this.#known.get(sessionId) === undefined) this.#addFound(sessionId, runs);
    this.#enqueue(sessionId, this.#known.get(sessionId)!, said);
    this.#slots.pump();
  }

  /** An open run is sent from its start, however old: the start time of an imported run is that of its file. */
  async #findRuns({ id, updatedAt }: SessionRecord, head: number): Promise<FoundRuns> {
    const newest = await this.#store.runs.findAt(id, head);
    const first = await this.#store.runs.findSince(id, this.#since);
    const isOpen = newest !== undefined && newest.lastSeq === null;
    const run = isOpen && (first === undefined || newest.firstSeq < first.firstSeq) ? newest : first;
    return { firstSeq: run?.firstSeq ?? head + 1, startedAt: run?.startedAt ?? updatedAt, isOpen };
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
    if (this.#foreign.size > limits.fleetKnownSessionsMax) this.#foreign.delete(oldest!);
  }
}

function toPages(sessionIds: readonly string[]): string[][] {
  const pages: string[][] = [];
  for (let at = 0; at < sessionIds.length; at += limits.recordPageItemsMax) {
    pages.push(sessionIds.slice(at, at + limits.recordPageItemsMax));
  }
  return pages;
}
