import type { Session, SessionThread, Usage } from '@fleetloom/protocol/managed-agents';
import { formatCost, formatCount, formatDuration } from '../terminal/format.ts';

/** What a line about a session says, column by column. */
export function toSessionCells(session: Session, nowMs: number): string[] {
  const { id, status, agent, created_at: createdAt, title, usage } = session;
  return [id, status, agent.name, formatDuration(nowMs - Date.parse(createdAt)), toCost(usage), title ?? ''];
}

/** The same of a thread; `depth` says how far to indent, and `label` is what to call its agent. */
export function toThreadCells(
  { id, status, agent, stats, usage }: SessionThread,
  depth: number,
  label: string,
): string[] {
  const active = stats === null ? '' : formatDuration(stats.active_seconds * 1000);
  const tokens = usage === null ? '' : formatCount(usage.input_tokens + usage.output_tokens);
  return [id, status, `${'  '.repeat(depth)}${label}`, agent.model.id, active, tokens, toCost(usage)];
}

/** Empty where a price is not known: that is not the same as nothing. */
function toCost(usage: Usage | null): string {
  const cents = usage?.list_cost?.amount;
  return cents === undefined ? '' : formatCost(Number(cents) / 100);
}
