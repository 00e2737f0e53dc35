import { type Approval, createSlots, type FleetEvent, foldSlots, type SessionSlots } from '@fleetloom/protocol/fleet';
import { doingOf } from '../fleet/draw-threads.ts';
import { toSlotState } from '../fleet/slot-state.ts';
import { type ThreadRow, toThreadRows } from '../fleet/thread-rows.ts';
import { limits } from '../limits.ts';
import { Activity } from './activity.ts';

/** What is being typed, and what it is for. */
export type Prompt =
  | { readonly type: 'deny'; readonly approval: Approval; readonly text: string }
  | { readonly type: 'send'; readonly text: string }
  | { readonly type: 'filter'; readonly text: string }
  | { readonly type: 'stop'; readonly row: ThreadRow };

export type Link = 'loading' | 'live' | 'waiting' | 'over';

/** Everything that the terminal view shows. Events and keys change it, and drawing only looks. */
export class WatchModel {
  readonly sessionId: string;
  slots: SessionSlots = createSlots({ textCharsMax: limits.watchTextCharsMax });
  readonly activity = new Activity();
  link: Link = 'loading';
  /** Why there is no connection, or nothing more to come. */
  linkReason = '';
  page: 'threads' | 'thread' | 'help' = 'threads';
  /** Lines of a thread's page that are below the screen. */
  scroll = 0;
  prompt: Prompt | undefined;
  filter = '';
  notice: { readonly text: string; readonly untilMs: number } | undefined;
  #selectedKey: string | undefined;
  /** Answered here, and not yet told by the stream. */
  readonly #answered = new Set<string>();

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  take(event: FleetEvent): void {
    this.slots = foldSlots(this.slots, event);
    if ('thread_id' in event && typeof event.thread_id === 'string') this.activity.count(event.thread_id, event.ts);
    if (event.type === 'over') {
      this.link = 'over';
      this.linkReason = event.reason;
    }
  }

  /** The threads that are shown. */
  rows(nowMs: number): readonly ThreadRow[] {
    const rows = toThreadRows(this.slots.runs);
    const wanted = this.filter.toLowerCase();
    if (wanted === '') return rows;
    return rows.filter((row) => {
      const said = `${row.agent} ${toSlotState(row.slot, nowMs).word} ${doingOf(row, nowMs)}`;
      return said.toLowerCase().includes(wanted);
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

  /** What a thread asks for and nobody has answered. */
  openAsks({ approvals }: ThreadRow): readonly Approval[] {
    return approvals.filter(({ toolUseId }) => !this.#answered.has(toolUseId));
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

const NOTICE_MS = 5_000;
