import { inBackground } from '../connection/in-background.ts';
import type { FleetEvent, SessionSlots } from '@fleetloom/protocol/fleet';
import type { Session } from '@fleetloom/protocol/managed-agents';
import { api, signIn } from '../connection/api.ts';
import { clock, serverNow } from '../connection/clock.ts';
import { connect } from '../connection/connect.ts';
import { type HubMessage, type LinkState, noLink } from '../connection/messages.ts';
import { readLog } from '../connection/read-log.ts';
import { limits } from '../limits.ts';
import { FleetModel } from '../model/fleet-model.ts';
import { type InboxItem, isAsk, toInboxItems } from '../model/inbox-items.ts';
import type { SessionModel } from '../model/session-model.ts';
import { type ShownRow, type Summary, summarize, toShownRows } from '../model/summary.ts';
import { ReplayPlayer } from './replay-player.ts';
import { Signal } from './signal.ts';

/** A session at the moment that is shown. */
export interface ShownSession {
  readonly session: SessionModel;
  readonly slots: SessionSlots;
  readonly rows: readonly ShownRow[];
  readonly isLoading: boolean;
}

/** Everything that this tab knows of the fleet, live or at an earlier moment. Views read it when it says that it changed. */
export class FleetStore {
  readonly model = new FleetModel();
  /** The data: at most so often as rows are drawn, and once a second for the times that pass. */
  readonly changed = new Signal();
  readonly linkChanged = new Signal();
  readonly replay: ReplayPlayer;
  link: LinkState = noLink;
  /** How long the newest events took from the server to here. */
  lagMs = 0;
  /** Whether the list of sessions was read: before that, nothing is known to be missing. */
  isListed = false;
  #isDirty = false;
  #shown: readonly ShownSession[] | undefined;
  #inbox: readonly InboxItem[] | undefined;
  #asks: readonly InboxItem[] | undefined;
  readonly #loads: string[] = [];
  #loading = 0;
  #listing: Promise<void> | undefined;
  #nextListing: Promise<void> | undefined;

  constructor() {
    this.replay = new ReplayPlayer(this);
  }

  start(): void {
    connect((message) => this.take(message));
    inBackground(this.refreshSessions());
    let ticks = 0;
    setInterval(() => {
      ticks = (ticks + 1) % Math.round(1_000 / limits.rowsMs);
      if (this.#isDirty || ticks === 0) this.tell();
    }, limits.rowsMs);
  }

  /** The moment that is shown, by the clock of the server: events carry its time. */
  now(): number {
    return this.replay.time ?? serverNow();
  }

  get isLive(): boolean {
    return this.link.type === 'live';
  }

  tell(): void {
    this.#isDirty = false;
    this.#shown = undefined;
    this.#inbox = undefined;
    this.#asks = undefined;
    this.changed.emit();
  }

  take(message: HubMessage): void {
    switch (message.type) {
      case 'welcome':
        for (const sessionId of message.sessions) this.load(sessionId);
        break;
      case 'link':
        if (message.link.type === 'signed_out') signIn();
        if (message.link.type === 'live' && this.link.type !== 'live') inBackground(this.refreshSessions());
        this.link = message.link;
        this.linkChanged.emit();
        break;
      case 'events':
        this.#takeEvents(message.events);
        break;
    }
  }

  #takeEvents(events: readonly FleetEvent[]): void {
    let isListOld = false;
    for (const event of events) {
      const unread = this.model.take(event);
      if (unread !== undefined) this.load(unread);
      isListOld ||= event.type === 'request_received' || event.type === 'done';
    }
    const last = events.at(-1)?.ts;
    if (last != null) {
      clock.sawEvent(last, Date.now());
      this.lagMs = Math.max(0, serverNow() - last);
    }
    if (isListOld) inBackground(this.refreshSessions());
    this.#isDirty = true;
  }

  /** Reads the log of a session, if that has not been done. */
  load(sessionId: string): void {
    const known = this.model.know(sessionId);
    if (known.load !== 'unloaded') return;
    known.load = 'loading';
    this.#loads.push(sessionId);
    this.#loadNext();
  }

  #loadNext(): void {
    if (this.#loading >= limits.logReadsMax) return;
    const sessionId = this.#loads.shift();
    if (sessionId === undefined) return;
    this.#loading += 1;
    inBackground(
      this.#read(sessionId).finally(() => {
        this.#loading -= 1;
        this.#loadNext();
      }),
    );
  }

  async #read(sessionId: string): Promise<void> {
    try {
      for await (const events of readLog(sessionId, new AbortController().signal)) {
        this.model.takeLog(sessionId, events);
        this.#isDirty = true;
      }
      this.model.endLog(sessionId);
    } catch {
      // It is read again when it is asked for, or when something happens in it.
      const known = this.model.sessions.get(sessionId);
      if (known !== undefined) known.load = 'unloaded';
    }
    this.#isDirty = true;
  }

  /** Reads what the server says of the sessions beside their logs: titles, budgets, what they are made of. */
  refreshSessions(): Promise<void> {
    // A list that is being read may lack what the caller wants to see, so it is read once more for all of them.
    if (this.#listing !== undefined) {
      return (this.#nextListing ??= this.#listing.then(() => {
        this.#nextListing = undefined;
        return this.refreshSessions();
      }));
    }
    return (this.#listing = this.#readSessions().finally(() => (this.#listing = undefined)));
  }

  async #readSessions(): Promise<void> {
    try {
      const { data } = await api.get<{ data: readonly Session[] }>('v1/sessions?limit=100');
      for (const record of data) this.model.know(record.id).model.describe(record);
      for (const record of data.slice(0, limits.recentSessionsMax)) this.load(record.id);
      this.isListed = true;
    } catch {
      // The link says that there is no connection; the next event asks again.
    }
    this.#isDirty = true;
  }

  /** Sessions that something happened in between two times, the newest first and not more than a replay reads. */
  sessionsBetween(from: number, to: number): readonly SessionModel[] {
    return [...this.model.sessions.values()]
      .map(({ model }) => model)
      .filter((session) => beginOf(session) <= to && lastOf(session) >= from)
      .toSorted((left, right) => beginOf(right) - beginOf(left))
      .slice(0, limits.replaySessionsMax + 1);
  }

  /** All sessions of which something is to be seen, the newest first. In a replay as they were then. */
  shown(): readonly ShownSession[] {
    return (this.#shown ??= this.replay.isOn ? this.#shownThen() : this.#shownNow());
  }

  #shownNow(): readonly ShownSession[] {
    const now = serverNow();
    return [...this.model.sessions.values()]
      .map(({ model: session, load }) => {
        const { slots } = session;
        return {
          session,
          slots,
          rows: toShownRows(session, slots, now, session.health),
          isLoading: load === 'loading',
        };
      })
      .toSorted((left, right) => beginOf(right.session) - beginOf(left.session));
  }

  #shownThen(): readonly ShownSession[] {
    const { session, slots, time } = this.replay;
    if (session === undefined || slots === undefined) return [];
    return [{ session, slots }, ...this.replay.others()]
      .map((one) => ({ ...one, rows: toShownRows(one.session, one.slots, time ?? 0), isLoading: false }))
      .toSorted((left, right) => beginOf(right.session) - beginOf(left.session));
  }

  rows(): readonly ShownRow[] {
    return this.shown().flatMap(({ rows }) => rows);
  }

  summary(): Summary {
    return summarize(this.shown(), this.now());
  }

  /** What waits for an answer at this moment, also while an earlier one is shown. */
  asksNow(): readonly InboxItem[] {
    if (this.#asks !== undefined) return this.#asks;
    const items = this.replay.isOn ? toInboxItems(this.#shownNow(), serverNow(), this.isLive) : this.inbox();
    return (this.#asks = items.filter(isAsk));
  }

  inbox(): readonly InboxItem[] {
    return (this.#inbox ??= toInboxItems(this.shown(), this.now(), this.isLive));
  }
}

/** Those whose log was not read are in their place by when they were made. */
function beginOf({ firstAt, record }: SessionModel): number {
  return firstAt ?? (record === undefined ? Infinity : Date.parse(record.created_at));
}

/** When something happened in it last, as far as that is known. */
function lastOf({ slots, record }: SessionModel): number {
  return slots.lastAt ?? (record === undefined ? Infinity : Date.parse(record.updated_at));
}
