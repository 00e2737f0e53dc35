import { inBackground, reportAsWarning } from '../base/in-background.ts';
import { Feed } from './feed.ts';
import type { Entry } from '../store/frame.ts';
import type { LogLimits } from './log-limits.ts';
import type { Cancel, Schedule } from '../base/schedule.ts';
import type { ReadRequest, Signal, Store } from '../store/store.ts';
import { isStoreError, storeError } from '../store/store-errors.ts';

export interface FeedsOptions {
  readonly store: Store;
  readonly schedule: Schedule;
  readonly bounds: LogLimits;
  /** Signals of a commit of this process are ignored: its frames are delivered directly. */
  readonly isCommitting: () => boolean;
}

type LoadRequest = Pick<ReadRequest, 'sessionId' | 'after'> & { readonly skipsDeltas: boolean };

/** The feeds of all sessions with readers, kept up to date by commits of this process, signals and polling. */
export class Feeds {
  readonly #options: FeedsOptions;
  /** In the order of their last write. */
  readonly #feeds = new Map<string, { feed: Feed; ready: Promise<void>; readers: number }>();
  readonly #loads = new Map<string, Promise<readonly Entry[]>>();
  readonly #unsubscribe: () => void;
  /** Bytes of all feeds together. */
  #bytes = 0;
  #cancelPoll: Cancel | undefined;
  #isClosed = false;

  constructor(options: FeedsOptions) {
    this.#options = options;
    this.#unsubscribe = options.store.subscribe((signals) => this.#hear(signals));
  }

  /** The feed of a session, for one more reader. Its head is at least the reader's cursor, if the log goes that far. */
  async enter(sessionId: string, after = 0): Promise<Feed> {
    const known = this.#feeds.get(sessionId) ?? this.#open(sessionId);
    known.readers++;
    try {
      await known.ready;
      // The reader may arrive before the signal of the process that wrote its last frame.
      if (after > known.feed.head) known.feed.raise((await this.#options.store.heads([sessionId])).get(sessionId) ?? 0);
      return known.feed;
    } catch (error) {
      this.leave(sessionId, known.feed);
      throw error;
    }
  }

  leave(sessionId: string, feed: Feed): void {
    const known = this.#feeds.get(sessionId);
    if (known?.feed === feed && --known.readers === 0) {
      this.#counted(feed, () => feed.drop());
      this.#feeds.delete(sessionId);
    }
    if (this.#feeds.size === 0) this.#stopPolling();
  }

  publish(sessionId: string, entries: readonly Entry[]): void {
    const known = this.#feeds.get(sessionId);
    if (known === undefined || entries.length === 0) return;
    this.#counted(known.feed, () => known.feed.publish(entries));
    this.#feeds.delete(sessionId);
    this.#feeds.set(sessionId, known);
    this.#shrink();
  }

  /** Reads from the store. Readers at the same cursor share one read; a read that reaches the end is also kept for later readers. */
  load(feed: Feed, request: LoadRequest): Promise<readonly Entry[]> {
    const place = `${request.sessionId} ${request.after} ${request.skipsDeltas}`;
    const running = this.#loads.get(place);
    if (running !== undefined) return running;
    const loading = this.#read(feed, request).finally(() => this.#loads.delete(place));
    this.#loads.set(place, loading);
    return loading;
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    this.#stopPolling();
    for (const { feed } of this.#feeds.values()) feed.finish('closed');
    this.#feeds.clear();
  }

  #open(sessionId: string) {
    const { store, bounds } = this.#options;
    const feed = new Feed(0, bounds.feedBytesMax);
    // The feed is registered before the store is asked, so that a commit in between is not missed.
    const ready = store.heads([sessionId]).then((heads) => {
      const head = heads.get(sessionId);
      if (head === undefined) throw storeError('not_found', `${sessionId} does not exist`);
      feed.raise(head);
    });
    const opened = { feed, ready, readers: 0 };
    this.#feeds.set(sessionId, opened);
    this.#poll();
    return opened;
  }

  async #read(feed: Feed, request: LoadRequest): Promise<readonly Entry[]> {
    const { store, bounds } = this.#options;
    const { sessionId, skipsDeltas } = request;
    try {
      const bytesMax = bounds.logBatchBytesMax;
      const entries = await store.read({ ...request, entriesMax: bounds.logBatchEntriesMax, bytesMax });
      // Each reader reads the history on its own; only entries at the end are shared. A read that skipped deltas is not shared.
      if (!skipsDeltas && (entries.at(-1)?.lastSeq ?? 0) >= feed.head) this.publish(sessionId, entries);
      return entries;
    } catch (error) {
      if (!isStoreError(error, 'not_found')) throw error;
      this.#counted(feed, () => feed.finish('deleted'));
      return [];
    }
  }

  #hear(signals: readonly Signal[]): void {
    if (this.#isClosed) return;
    // Most of these signals are of the commit in progress, which delivers its own frames.
    if (this.#options.isCommitting()) return void setImmediate(() => this.#apply(signals));
    this.#apply(signals);
  }

  #apply(signals: readonly Signal[]): void {
    for (const signal of signals) {
      const feed = this.#feeds.get(signal.sessionId)?.feed;
      if (feed === undefined) continue;
      if (signal.type === 'frames') feed.raise(signal.head);
      if (signal.type === 'deleted') this.#counted(feed, () => feed.finish('deleted'));
    }
  }

  /** Signals can be lost. Reading the heads periodically finds the frames that no signal reported. */
  #poll(): void {
    this.#cancelPoll ??= this.#options.schedule(
      () => inBackground(this.#look(), reportAsWarning),
      this.#options.bounds.logPollMs,
    );
  }

  async #look(): Promise<void> {
    this.#cancelPoll = undefined;
    const known = [...this.#feeds];
    try {
      const heads = await this.#options.store.heads(known.map(([sessionId]) => sessionId));
      for (const [sessionId, { feed }] of known) {
        const head = heads.get(sessionId);
        if (head === undefined) this.#counted(feed, () => feed.finish('deleted'));
        else feed.raise(head);
      }
    } catch {
      // The store is unavailable. New reads fail with its error; waiting readers continue to wait.
    }
    if (this.#feeds.size > 0) this.#poll();
  }

  #stopPolling(): void {
    this.#cancelPoll?.();
    this.#cancelPoll = undefined;
  }

  #counted(feed: Feed, change: () => void): void {
    const before = feed.bytes;
    change();
    this.#bytes += feed.bytes - before;
  }

  /** Bounds all feeds together: the feeds that were written to longest ago are dropped first. */
  #shrink(): void {
    for (const { feed } of this.#feeds.values()) {
      if (this.#bytes <= this.#options.bounds.feedsBytesMax) return;
      this.#counted(feed, () => feed.drop());
    }
  }
}
