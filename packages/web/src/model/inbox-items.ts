import {
  type Approval,
  cutText,
  cutTextStart,
  planOf,
  type Question,
  questionsOf,
  type SessionSlots,
} from '@fleetloom/protocol/fleet';
import type { SessionModel } from './session-model.ts';
import { stallReason } from './stall-reason.ts';
import type { ShownRow } from './summary.ts';

/** Something that somebody has to look at. */
export interface InboxItem {
  readonly id: string;
  readonly kind: 'approval' | 'answer' | 'error' | 'stall' | 'budget';
  readonly session: SessionModel;
  readonly row: ShownRow;
  /** The names from the coordinator down to the one that asks. */
  readonly path: readonly string[];
  readonly tool: string;
  readonly input: unknown;
  /** The text of the plan that is to be approved; null where it is something else. */
  readonly plan: string | null;
  /** What the program wants to know; none where it is something else. */
  readonly questions: readonly Question[];
  /** What it said last, which is mostly why it wants it; or what is wrong. */
  readonly why: string;
  readonly since: number;
  /** Threads that cannot go on without it. */
  readonly blocked: number;
}

/** From any depth of any session, the one first that keeps the most waiting for the longest. */
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
  const weight = (item: InboxItem) => (isAsk(item) ? 1_000 : 1) * item.blocked * Math.max(1, now - item.since);
  return items.toSorted((left, right) => weight(right) - weight(left));
}

/** Whether an answer is waited for. */
export function isAsk({ kind }: InboxItem): boolean {
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
    // The label is the beginning of it, where the whole is known no more.
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
  if (row.state === 'stalled') {
    const why = stallReason(row.slot, now, isLive, row.health);
    fault.push({
      ...base,
      // A later stall of the same thread is another one, also if this one was dismissed.
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

/** An old failure is history, and nobody has to look at it. */
export function isNewestRun({ session, slot }: Pick<ShownRow, 'session' | 'slot'>): boolean {
  const last = session.slots.runs.at(-1);
  return last !== undefined && last.slots.includes(slot);
}

/** Most of the budget is used up. */
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
    // A raised budget that is nearly spent again is worth another look.
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

export function lastSentence(text: string): string {
  const flat = cutTextStart(text, 600).replace(/\s+/g, ' ').trim();
  const parts = flat.split(/(?<=[.!?…:])(?:\s+|(?=[A-Z]))/);
  return cutText(parts.at(-1) ?? '', 300);
}
