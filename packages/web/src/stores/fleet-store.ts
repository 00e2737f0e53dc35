import { inBackground } from './connection/in-background.ts';
import { type FleetEvent, type SessionsChanged, type SessionSlots, states } from '@fleetloom/protocol/fleet';
import type { Session } from '@fleetloom/protocol/managed-agents';
import { api, ApiError, signIn } from './connection/api.ts';
import { clock, serverNow } from './connection/clock.ts';
import { connect } from './connection/connect.ts';
import { type HubMessage, type LinkState, noLink } from './connection/messages.ts';
import { readLog } from './connection/read-log.ts';
import { connectionLimits } from './connection/limits.ts';
import { storeLimits } from './limits.ts';
import { FleetModel } from '../model/fleet-model.ts';
import { type InboxItem, needsDecision, toInboxItems } from '../model/inbox-items.ts';
import type { SessionModel } from '../model/session-model.ts';
import { type ShownRow, type Summary, summarize, toShownRows } from '../model/summary.ts';
import { ReplayPlayer } from './replay-player.ts';
import { Signal } from './signal.ts';

/** A session at the moment shown. */
export interface ShownSession {
  readonly session: SessionModel;
  readonly slots: SessionSlots;
  readonly rows: readonly ShownRow[];
  readonly isLoading: boolean;
}

/** The state of the fleet in this tab, live or replayed. Components read it again when `changed` emits. */
export class FleetStore {
  readonly model = new FleetModel();
  /** Emits at most every `storeLimits.rowsMs`, and once per second even without events, because ages change. */
  readonly changed = new Signal();
  readonly linkChanged = new Signal();
  readonly replay: ReplayPlayer;
  link: LinkState = noLink;
  /** How long the newest event took from the server to this tab. */
  lagMs = 0;
  /** Whether the session list was loaded. Before that, an empty fleet may only mean that nothing is loaded yet. */
  isListed = false;
  /** Called with changed rows of the list of sessions. */
  onSessionsChanged: (event: SessionsChanged) => void = () => {};
  /** Sessions of links that were looked up on the server; `missing` if the server does not have the session. */
  readonly lookups = new Map<string, 'loading' | 'found' | 'missing' | 'failed'>();
  #isDirty = false;
  #shown: readonly ShownSession[] | undefined;
  #inbox: readonly InboxItem[] | undefined;
  #pending: readonly InboxItem[] | undefined;
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
      ticks = (ticks + 1) % Math.round(1_000 / storeLimits.rowsMs);
      if (this.#isDirty || ticks === 0) this.notify();
    }, storeLimits.rowsMs);
  }

  /** The moment shown, in server time, which events carry. */
  now(): number {
    return this.replay.time ?? serverNow();
  }

  get isLive(): boolean {
    return this.link.type === 'live';
  }

  notify(): void {
    this.#isDirty = false;
    this.#shown = undefined;
    this.#inbox = undefined;
    this.#pending = undefined;
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
      if (event.type === 'sessions_changed') {
        this.onSessionsChanged(event);
        continue;
      }
      const unread = this.model.take(event);
      // The session is no longer on the stream, so a request finds out whether it still exists.
      if (event.type === 'over' && event.session_id !== undefined && this.lookups.delete(event.session_id))
        this.lookUp(event.session_id);
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

  /** Loads the log of a session unless it is loaded or loading. */
  load(sessionId: string): void {
    const known = this.model.know(sessionId);
    if (known.load !== 'unloaded') return;
    known.load = 'loading';
    this.#loads.push(sessionId);
    this.#loadNext();
  }

  #loadNext(): void {
    if (this.#loading >= connectionLimits.logReadsMax) return;
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
      // The log is loaded again on request, or with the next event of the session.
      const known = this.model.sessions.get(sessionId);
      if (known !== undefined) known.load = 'unloaded';
    }
    this.#isDirty = true;
  }

  /** Loads the session records: titles, budgets, agents. */
  refreshSessions(): Promise<void> {
    // A list that is loading may not contain a session that the caller has just created, so one more load follows for all callers.
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
      for (const record of data.slice(0, storeLimits.recentSessionsMax)) this.load(record.id);
      this.isListed = true;
    } catch {
      // The link badge shows the lost connection; the next event triggers another load.
    }
    this.#isDirty = true;
  }

  /** Loads the session of a link. Its record may not be among the listed records, and the session may not exist. */
  lookUp(sessionId: string): void {
    const known = this.lookups.get(sessionId);
    if (known === 'loading' || known === 'found') return;
    if (this.model.sessions.get(sessionId)?.model.record !== undefined) {
      this.lookups.set(sessionId, 'found');
      return this.load(sessionId);
    }
    this.lookups.set(sessionId, 'loading');
    inBackground(this.#lookUp(sessionId));
  }

  async #lookUp(sessionId: string): Promise<void> {
    try {
      const record = await api.get<Session>(`v1/sessions/${encodeURIComponent(sessionId)}`);
      this.model.know(record.id).model.describe(record);
      this.lookups.set(sessionId, 'found');
      this.load(sessionId);
    } catch (error) {
      const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 400);
      this.lookups.set(sessionId, isMissing ? 'missing' : 'failed');
    }
    this.notify();
  }

  /** Sessions active between two times, the newest first, as many as a replay loads. */
  sessionsBetween(from: number, to: number): readonly SessionModel[] {
    return [...this.model.sessions.values()]
      .map(({ model }) => model)
      .filter((session) => startOf(session) <= to && lastOf(session) >= from)
      .toSorted((left, right) => startOf(right) - startOf(left))
      .slice(0, storeLimits.replaySessionsMax + 1);
  }

  /** All sessions, the newest first; in a replay, as they were at its moment. */
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
      .toSorted((left, right) => startOf(right.session) - startOf(left.session));
  }

  #shownThen(): readonly ShownSession[] {
    const { session, slots, time } = this.replay;
    if (session === undefined || slots === undefined) return [];
    return [{ session, slots }, ...this.replay.others()]
      .map((one) => ({ ...one, rows: toShownRows(one.session, one.slots, time ?? 0), isLoading: false }))
      .toSorted((left, right) => startOf(right.session) - startOf(left.session));
  }

  /** Whether a session is running now, even while a replay is shown. */
  isRunning(sessionId: string): boolean {
    const session = this.model.sessions.get(sessionId)?.model;
    const rows = session === undefined ? [] : toShownRows(session, session.slots, serverNow(), session.health);
    return rows.some(({ state }) => states[state].isOpen);
  }

  rows(): readonly ShownRow[] {
    return this.shown().flatMap(({ rows }) => rows);
  }

  summary(): Summary {
    return summarize(this.shown(), this.now());
  }

  /** Items that wait for the user now, even while a replay is shown. */
  pendingItems(): readonly InboxItem[] {
    if (this.#pending !== undefined) return this.#pending;
    const items = this.replay.isOn ? toInboxItems(this.#shownNow(), serverNow(), this.isLive) : this.inbox();
    return (this.#pending = items.filter(needsDecision));
  }

  inbox(): readonly InboxItem[] {
    return (this.#inbox ??= toInboxItems(this.shown(), this.now(), this.isLive));
  }
}

/** Start of a session: its first event, or its creation if the log is not loaded. */
function startOf({ firstAt, record }: SessionModel): number {
  return firstAt ?? (record === undefined ? Infinity : Date.parse(record.created_at));
}

/** Last event of a session, or its last update if the log is not loaded. */
function lastOf({ slots, record }: SessionModel): number {
  return slots.lastAt ?? (record === undefined ? Infinity : Date.parse(record.updated_at));
}
