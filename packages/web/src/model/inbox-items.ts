import {
  type Approval,
  cutText,
  cutTextStart,
  describeStall,
  planOf,
  type Question,
  questionsOf,
  type SessionSlots,
} from '@fleetloom/protocol/fleet';
import type { SessionModel } from './session-model.ts';
import type { ShownRow } from './summary.ts';

/** An item that needs the attention of a person. */
export interface InboxItem {
  readonly id: string;
  readonly kind: 'approval' | 'answer' | 'error' | 'stall' | 'budget';
  readonly session: SessionModel;
  readonly row: ShownRow;
  /** The names from the coordinator down to the thread of the item. */
  readonly path: readonly string[];
  readonly tool: string;
  readonly input: unknown;
  /** The text of the plan to approve; null for other items. */
  readonly plan: string | null;
  /** The questions of the program; empty for other items. */
  readonly questions: readonly Question[];
  /** The agent's last sentence, which usually gives the reason; or the problem. */
  readonly why: string;
  readonly since: number;
  /** How many threads the item blocks. */
  readonly blocked: number;
}

/** The items of all sessions, the item that blocks most threads for longest first. */
export function toInboxItems(
  sessions: readonly {
    readonly session: SessionModel;
    readonly slots: SessionSlots;
    readonly rows: readonly ShownRow[];
  }[],
  now: number,
  isLive: boolean,
): readonly InboxItem[] {
  const items = sessions.flatMap(({ session, slots, rows }) => {
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const budget = toBudgetItem(session, slots, rows);
    return [...rows.flatMap((row) => toItems(row, byKey, now, isLive)), ...(budget === undefined ? [] : [budget])];
  });
  const weight = (item: InboxItem) => (needsDecision(item) ? 1_000 : 1) * item.blocked * Math.max(1, now - item.since);
  return items.toSorted((left, right) => weight(right) - weight(left));
}

/** Whether the item waits for a decision or an answer. */
export function needsDecision({ kind }: InboxItem): boolean {
  return kind === 'approval' || kind === 'answer';
}

function toItems(row: ShownRow, byKey: ReadonlyMap<string, ShownRow>, now: number, isLive: boolean): InboxItem[] {
  const above = row.above.flatMap((key) => byKey.get(key) ?? []);
  const base = {
    session: row.session,
    row,
    path: [...above.map(({ agent }) => agent), row.agent],
    blocked: 1 + above.filter(({ state }) => state === 'waits').length,
  };
  const asks = row.approvals.map((approval) => toAsk(approval, row, base));
  const answers = row.slot.tools.filter(
    ({ state, tool, awaitsResult = row.session.customTools.has(tool) }) => state === 'running' && awaitsResult,
  );
  const waits = answers.map(({ toolUseId, tool, label, startedAt }): InboxItem => {
    // If the whole input is no longer kept, the label is its beginning.
    const input = row.session.customInputs.get(toolUseId) ?? label;
    return {
      ...base,
      id: toolUseId,
      kind: 'answer',
      tool,
      input,
      plan: null,
      questions: questionsOf({ tool, input }),
      why: lastSentence(row.slot.text.tail),
      since: startedAt ?? now,
    };
  });
  const fault: InboxItem[] = [];
  if (row.state === 'error' && isNewestRun(row)) {
    const why = row.slot.error ?? row.slot.stopReason ?? 'it failed';
    fault.push({
      ...base,
      id: `error ${row.key} ${row.slot.endedAt}`,
      kind: 'error',
      tool: '',
      input: null,
      plan: null,
      questions: [],
      why,
      since: row.slot.endedAt ?? now,
    });
  }
  for (const { seq, ts, message } of row.level === 0 && isNewestRun(row) ? row.session.slots.errors : []) {
    fault.push({
      ...base,
      id: `error ${row.sessionId} ${seq}`,
      kind: 'error',
      tool: '',
      input: null,
      plan: null,
      questions: [],
      why: message,
      since: ts ?? now,
    });
  }
  if (row.state === 'stalled') {
    const why = describeStall(row.slot, now, { isLive, health: row.health });
    fault.push({
      ...base,
      // A later stall of the same thread is a new item, even if this one was dismissed.
      id: `stall ${row.key} ${row.slot.lastAt}`,
      kind: 'stall',
      tool: '',
      input: null,
      plan: null,
      questions: [],
      why,
      since: row.slot.lastAt ?? now,
    });
  }
  return [...asks, ...waits, ...fault];
}

function toAsk(
  approval: Approval,
  row: ShownRow,
  base: Pick<InboxItem, 'session' | 'row' | 'path' | 'blocked'>,
): InboxItem {
  return {
    ...base,
    id: approval.toolUseId,
    kind: 'approval',
    tool: approval.tool,
    input: approval.input,
    plan: planOf(approval),
    questions: [],
    why: approval.reason ?? lastSentence(row.slot.text.tail),
    since: approval.askedAt ?? 0,
  };
}

/** Whether a row belongs to the newest run: failures in earlier runs are history and not listed. */
export function isNewestRun({ session, slot }: Pick<ShownRow, 'session' | 'slot'>): boolean {
  const last = session.slots.runs.at(-1);
  return last !== undefined && last.slots.includes(slot);
}

/** The item of a budget that is nearly spent. */
function toBudgetItem(session: SessionModel, slots: SessionSlots, rows: readonly ShownRow[]): InboxItem | undefined {
  const [row] = rows;
  const budget = session.record?.budget;
  if (row === undefined || budget == null) return undefined;
  const limit = Number(budget.max_list_cost.amount) / 100;
  const spent = slots.totals.usage.costUsd;
  if (spent < limit * BUDGET_WARNING) return undefined;
  const why = `$${spent.toFixed(2)} of $${limit.toFixed(2)} are spent. At the limit no further model request is made.`;
  const path = [row.agent];
  return {
    // The id contains the limit, so that a raised budget that is nearly spent is a new item.
    id: `budget ${session.id} ${limit}`,
    kind: 'budget',
    session,
    row,
    path,
    tool: '',
    input: null,
    plan: null,
    questions: [],
    why,
    since: slots.lastAt ?? 0,
    blocked: 1,
  };
}

const BUDGET_WARNING = 0.8;

/** The last sentence of a text. */
export function lastSentence(text: string): string {
  const flat = cutTextStart(text, 600).replace(/\s+/g, ' ').trim();
  const parts = flat.split(/(?<=[.!?…:])(?:\s+|(?=[A-Z]))/);
  return cutText(parts.at(-1) ?? '', 300);
}
