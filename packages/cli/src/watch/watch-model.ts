import { ServerClock } from '@fleetloom/client';
import { type FleetEvent, type Run, type SessionHealth, toRuleText } from '@fleetloom/protocol/fleet';
import { doingOf } from '../fleet/draw-threads.ts';
import { type SlotState, toSlotState } from '../fleet/slot-state.ts';
import { type ThreadRow, toThreadRows } from '../fleet/thread-rows.ts';
import { type Ask, toAsks } from './asks.ts';
import { CatchUp } from './catch-up.ts';
import { type Order, Ordering } from './ordering.ts';
import type { Prompt } from './prompt.ts';
import type { Replay } from './replay.ts';
import { isAllowed, type Rule } from './rule.ts';
import { type Scene, Seen } from './seen.ts';
import { noFacts, type SessionFacts } from './session-facts.ts';

export type Link = 'loading' | 'live' | 'waiting' | 'over';
export type Page = 'threads' | 'thread' | 'inbox' | 'help';

/** Everything that the terminal view shows. Events and keys change it, and drawing only looks. */
export class WatchModel {
  readonly sessionId: string;
  readonly seen = new Seen();
  /** The past, while somebody looks at it. */
  replay: Replay | undefined;
  facts: SessionFacts = noFacts;
  /** What the server knows of threads at work, while one is stalled. */
  health: SessionHealth | undefined;
  link: Link = 'loading';
  /** Why there is no connection, or nothing more to come. */
  linkReason = '';
  readonly catchUp = new CatchUp();
  /** How long the newest event was on its way. */
  lagMs: number | undefined;
  page: Page = 'threads';
  /** Where a thread or the help was opened from. */
  #before: Page[] = [];
  /** Lines of a page that are below the screen, or above it where it is read from the top. */
  scroll = 0;
  /** Thoughts and calls of a thread's page are shown whole. */
  isUnfolded = false;
  prompt: Prompt | undefined;
  filter = '';
  order: Order = 'tree';
  readonly #ordering = new Ordering();
  /** Threads whose delegates are not shown. */
  readonly #folded = new Set<string>();
  notice: { readonly text: string; readonly untilMs: number } | undefined;
  /** What is approved without asking, until this view is left. */
  readonly rules: Rule[] = [];
  /** What the last picture showed of what waits: nothing is approved that nobody could see. */
  shownAsks: ReadonlySet<string> = new Set();
  #selectedKey: string | undefined;
  #selectedAsk: string | undefined;
  /** Answered here, and not yet told by the stream. */
  readonly #answered = new Set<string>();
  #threads: { readonly runs: readonly Run[]; readonly rows: readonly ThreadRow[] } | undefined;

  /** Whose time events carry. */
  readonly #clock: ServerClock;

  constructor(sessionId: string, clock: ServerClock = new ServerClock()) {
    this.sessionId = sessionId;
    this.#clock = clock;
  }

  /** What is shown: the present, or the past that somebody looks at. */
  get scene(): Scene {
    return this.replay ?? this.seen;
  }

  /** What time it is there. While the past is read it is as late as what was read, else everybody would seem stalled. */
  timeOf(nowMs: number): number {
    if (this.replay !== undefined) return this.replay.nowMs;
    return this.link === 'loading' ? (this.seen.slots.lastAt ?? nowMs) : this.serverTime(nowMs);
  }

  /** What time it is where the session is. */
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
    if (event.type === 'over') {
      this.link = 'over';
      this.linkReason = event.reason;
    }
  }

  /** All threads, in the order of the tree. One picture asks for them many times, and only events change them. */
  threads(): readonly ThreadRow[] {
    const { runs } = this.scene.slots;
    if (this.#threads?.runs !== runs) this.#threads = { runs, rows: toThreadRows(runs) };
    return this.#threads.rows;
  }

  /** The threads that are shown. */
  rows(nowMs: number): readonly ThreadRow[] {
    const time = this.timeOf(nowMs);
    const all = this.threads();
    const asks = this.asks(nowMs, all);
    const ordered =
      this.order === 'tree' ? this.#unfolded(all) : this.#ordering.sort(this.order, all, asks, time, nowMs);
    const wanted = this.filter.toLowerCase();
    if (wanted === '') return ordered;
    return ordered.filter((row) => {
      const said = `${row.agent} ${this.stateOf(row, time, asks).word} ${doingOf(row, time, this.health)}`;
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

  /** Says whether that changed anything. */
  fold(row: ThreadRow, isFolded: boolean): boolean {
    if (row.rowsBelow === 0 || this.order !== 'tree' || this.#folded.has(row.key) === isFolded) return false;
    if (isFolded) this.#folded.add(row.key);
    else this.#folded.delete(row.key);
    return true;
  }

  stateOf(row: ThreadRow, timeMs: number, asks: readonly Ask[]): SlotState {
    const isWaiting =
      row.slot.state === 'running' && asks.some(({ key, type }) => key === row.key && type === 'result');
    return isWaiting ? { sign: 'needsYou', word: 'needs you', style: 'attention' } : toSlotState(row.slot, timeMs);
  }

  /** At this time, as it is where the session is. */
  hasStalled(timeMs: number): boolean {
    const asks = this.asks(timeMs);
    return this.threads().some((row) => this.stateOf(row, timeMs, asks).word === 'stalled');
  }

  /** What waits for somebody and has not been answered here, what matters most first. */
  asks(nowMs: number, rows: readonly ThreadRow[] = this.threads()): readonly Ask[] {
    const { customTools } = this.facts;
    const { calls } = this.scene;
    return toAsks({ rows, calls, customTools, nowMs: this.timeOf(nowMs) }).filter(
      ({ toolUseId }) => !this.#answered.has(toolUseId),
    );
  }

  /** What waits although somebody has allowed it for good, each with the rule that allows it. */
  ruled(nowMs: number): readonly Ask[] {
    if (this.rules.length === 0) return [];
    return this.asks(nowMs).flatMap((ask) => {
      const rule = this.rules.find((each) => isAllowed(each, ask));
      return rule === undefined ? [] : [{ ...ask, rule: toRuleText(rule) }];
    });
  }

  /** Rows come and go; who was chosen stays chosen as long as it is there. */
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

  askIndex(asks: readonly Ask[]): number {
    return Math.max(
      0,
      asks.findIndex(({ toolUseId }) => toolUseId === this.#selectedAsk),
    );
  }

  get askId(): string | undefined {
    return this.#selectedAsk;
  }

  selectAsk(ask: Ask | undefined): void {
    this.#selectedAsk = ask?.toolUseId;
    this.scroll = 0;
  }

  open(page: Page): void {
    if (page === this.page) return;
    this.#before.push(this.page);
    this.page = page;
    this.scroll = 0;
  }

  /** To the page that this one was opened from; false where there is none. */
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

  /** The answer did not arrive: it is asked for again. */
  unanswered(toolUseId: string): void {
    this.#answered.delete(toolUseId);
  }

  say(text: string, nowMs: number): void {
    this.notice = { text, untilMs: nowMs + NOTICE_MS };
  }
}

const NOTICE_MS = 6_000;
