import { ServerClock } from '@fleetloom/client';
import {
  describeRewind,
  type FleetEvent,
  type Run,
  type SessionHealth,
  type ThreadRow,
  toRuleText,
  toThreadRows,
  states,
} from '@fleetloom/protocol/fleet';
import { doingOf } from '../../fleet/draw-threads.ts';
import { looks, type SlotState, toSlotState } from '../../fleet/slot-state.ts';
import { type PendingCall, toPendingCalls } from './pending-calls.ts';
import { CatchUp } from './catch-up.ts';
import { type Order, Ordering } from './ordering.ts';
import type { Prompt } from './prompt.ts';
import type { Replay } from './replay.ts';
import { isAllowed, type Rule } from './rule.ts';
import { type Scene, Seen } from './seen.ts';
import { noFacts, type SessionFacts } from './session-facts.ts';

/** The state of the connection to the server. */
export type Link = 'loading' | 'live' | 'waiting' | 'over';
/** The page on the screen. */
export type Page = 'threads' | 'thread' | 'inbox' | 'help';

/** The state of the terminal view. Events and keys change it; drawing only reads it. */
export class WatchModel {
  readonly sessionId: string;
  readonly seen = new Seen();
  /** The replay, if one is open. */
  replay: Replay | undefined;
  facts: SessionFacts = noFacts;
  /** The health of running threads, while one is stalled. */
  health: SessionHealth | undefined;
  link: Link = 'loading';
  /** Why the connection is lost or the session has ended. */
  linkReason = '';
  readonly catchUp = new CatchUp();
  /** Latency of the newest event. */
  lagMs: number | undefined;
  page: Page = 'threads';
  /** The pages to return to. */
  #before: Page[] = [];
  /** Scroll position in lines: from the end of a thread page, from the start of other pages. */
  scroll = 0;
  /** Whether thinking and tool calls are expanded on thread pages. */
  isUnfolded = false;
  prompt: Prompt | undefined;
  /** Whether Esc on the first page leads back to a list of sessions. */
  canGoBack = false;
  filter = '';
  order: Order = 'tree';
  readonly #ordering = new Ordering();
  /** Threads with collapsed children. */
  readonly #folded = new Set<string>();
  notice: { readonly text: string; readonly untilMs: number } | undefined;
  /** Rules that approve automatically until the view is closed. */
  readonly rules: Rule[] = [];
  /** Pending requests that the last frame showed: nothing may be approved unseen. */
  shownCalls: ReadonlySet<string> = new Set();
  #selectedKey: string | undefined;
  #selectedCall: string | undefined;
  /** Pending requests that were decided here and are not yet confirmed by the stream. */
  readonly #answered = new Set<string>();
  #threads: { readonly runs: readonly Run[]; readonly rows: readonly ThreadRow[] } | undefined;

  /** The clock of the server, which timestamps events. */
  readonly #clock: ServerClock;

  constructor(sessionId: string, clock: ServerClock = new ServerClock()) {
    this.sessionId = sessionId;
    this.#clock = clock;
  }

  /** The shown state: live or replay. */
  get scene(): Scene {
    return this.replay ?? this.seen;
  }

  /** The server time. While history is loading, the time of the newest event; otherwise every thread would appear stalled. */
  timeOf(nowMs: number): number {
    if (this.replay !== undefined) return this.replay.nowMs;
    return this.link === 'loading' ? (this.seen.slots.lastAt ?? nowMs) : this.serverTime(nowMs);
  }

  /** The current time on the server. */
  serverTime(nowMs: number): number {
    return this.#clock.toServerTime(nowMs);
  }

  take(event: FleetEvent, nowMs?: number): void {
    this.seen.take(event);
    this.catchUp.take(event);
    if (nowMs !== undefined && event.ts !== null) {
      this.#clock.sawEvent(event.ts, nowMs);
      this.lagMs = Math.max(0, this.serverTime(nowMs) - event.ts);
    }
    if (event.type === 'session_error' && nowMs !== undefined) this.say(event.message, nowMs);
    if (event.type === 'files_rewound' && nowMs !== undefined) this.say(describeRewind(event), nowMs);
    if (event.type === 'over') {
      this.link = 'over';
      this.linkReason = event.reason;
    }
  }

  /** All threads in tree order, cached until the next event. */
  threads(): readonly ThreadRow[] {
    const { runs } = this.scene.slots;
    if (this.#threads?.runs !== runs) this.#threads = { runs, rows: toThreadRows(runs) };
    return this.#threads.rows;
  }

  /** The visible threads. */
  rows(nowMs: number): readonly ThreadRow[] {
    const time = this.timeOf(nowMs);
    const all = this.threads();
    const pendingCalls = this.pendingCalls(nowMs, all);
    const ordered =
      this.order === 'tree' ? this.#unfolded(all) : this.#ordering.sort(this.order, all, pendingCalls, time, nowMs);
    const wanted = this.filter.toLowerCase();
    if (wanted === '') return ordered;
    return ordered.filter((row) => {
      const said = `${row.agent} ${this.stateOf(row, time, pendingCalls).word} ${doingOf(row, time, this.health)}`;
      return said.toLowerCase().includes(wanted);
    });
  }

  #unfolded(rows: readonly ThreadRow[]): readonly ThreadRow[] {
    if (this.#folded.size === 0) return rows;
    const shown: ThreadRow[] = [];
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index]!;
      shown.push(row);
      if (this.#folded.has(row.key)) index += row.rowsBelow;
    }
    return shown;
  }

  isFolded({ key, rowsBelow }: ThreadRow): boolean {
    return rowsBelow > 0 && this.order === 'tree' && this.#folded.has(key);
  }

  /** Collapses or expands the children of a thread. Returns whether that changed anything. */
  fold(row: ThreadRow, isFolded: boolean): boolean {
    if (row.rowsBelow === 0 || this.order !== 'tree' || this.#folded.has(row.key) === isFolded) return false;
    if (isFolded) this.#folded.add(row.key);
    else this.#folded.delete(row.key);
    return true;
  }

  stateOf(row: ThreadRow, timeMs: number, pendingCalls: readonly PendingCall[]): SlotState {
    const isWaiting =
      row.slot.state === 'running' && pendingCalls.some(({ key, type }) => key === row.key && type === 'result');
    return isWaiting ? { ...looks.needs, word: states.needs.word } : toSlotState(row.slot, timeMs);
  }

  /** Whether a thread is stalled at this server time. */
  hasStalled(timeMs: number): boolean {
    const pendingCalls = this.pendingCalls(timeMs);
    return this.threads().some((row) => this.stateOf(row, timeMs, pendingCalls).word === 'stalled');
  }

  /** Pending requests that were not decided here, most important first. */
  pendingCalls(nowMs: number, rows: readonly ThreadRow[] = this.threads()): readonly PendingCall[] {
    const { customTools } = this.facts;
    const { calls } = this.scene;
    return toPendingCalls({ rows, calls, customTools, nowMs: this.timeOf(nowMs) }).filter(
      ({ toolUseId }) => !this.#answered.has(toolUseId),
    );
  }

  /** Pending requests that a rule approves, each with its rule. */
  ruled(nowMs: number): readonly PendingCall[] {
    if (this.rules.length === 0) return [];
    return this.pendingCalls(nowMs).flatMap((pendingCall) => {
      const rule = this.rules.find((each) => isAllowed(each, pendingCall));
      return rule === undefined ? [] : [{ ...pendingCall, rule: toRuleText(rule) }];
    });
  }

  /** The selected thread stays selected as long as it exists. */
  selectedIndex(rows: readonly ThreadRow[]): number {
    return Math.max(
      0,
      rows.findIndex(({ key }) => key === this.#selectedKey),
    );
  }

  select(row: ThreadRow | undefined): void {
    this.#selectedKey = row?.key;
    this.scroll = 0;
  }

  selectKey(key: string): void {
    this.#selectedKey = key;
    this.scroll = 0;
  }

  pendingIndex(pendingCalls: readonly PendingCall[]): number {
    return Math.max(
      0,
      pendingCalls.findIndex(({ toolUseId }) => toolUseId === this.#selectedCall),
    );
  }

  get pendingId(): string | undefined {
    return this.#selectedCall;
  }

  selectCall(pendingCall: PendingCall | undefined): void {
    this.#selectedCall = pendingCall?.toolUseId;
    this.scroll = 0;
  }

  open(page: Page): void {
    if (page === this.page) return;
    this.#before.push(this.page);
    this.page = page;
    this.scroll = 0;
  }

  /** Returns to the previous page; false if there is none. */
  back(): boolean {
    const before = this.#before.pop();
    if (before === undefined) return false;
    this.page = before;
    this.scroll = 0;
    return true;
  }

  answered(toolUseId: string): void {
    this.#answered.add(toolUseId);
  }

  /** The decision failed: the request is pending again. */
  unanswered(toolUseId: string): void {
    this.#answered.delete(toolUseId);
  }

  say(text: string, nowMs: number): void {
    this.notice = { text, untilMs: nowMs + NOTICE_MS };
  }
}

const NOTICE_MS = 6_000;
