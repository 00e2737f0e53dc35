import { hasExamplePrice } from '@fleetloom/protocol/fleet';
import type { SessionThread, Usage } from '@fleetloom/protocol/managed-agents';
import { formatCost, formatCount, formatSpan } from '@fleetloom/protocol/text';

/** The cells of a thread in a table, indented by `depth`; `label` is the name shown for its agent. */
export function toThreadCells(
  { id, agent, stats, usage }: SessionThread,
  { state, depth, label }: { readonly state: string; readonly depth: number; readonly label: string },
): string[] {
  const active = stats === null ? '' : formatSpan(stats.active_seconds * 1000);
  const tokens = usage === null ? '' : formatCount(usage.input_tokens + usage.output_tokens);
  const cost = toCost(usage);
  const shown = cost !== '' && hasExamplePrice(agent.model.id) ? `e.g. ${cost}` : cost;
  return [id, state, `${'  '.repeat(depth)}${label}`, agent.model.id, active, tokens, shown];
}

/** Empty if the price is unknown, which is not the same as zero. */
function toCost(usage: Usage | null): string {
  const cents = usage?.list_cost?.amount;
  return cents === undefined ? '' : formatCost(Number(cents) / 100);
}
