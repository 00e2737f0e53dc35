import type { FleetCostGroup } from '@fleetloom/protocol/fleet';

/** The groups as CSV with a header, one line for each day, agent and model. Names are escaped: a spreadsheet could run them as formulas. */
export function toCsv(groups: readonly FleetCostGroup[]): string {
  const head = ['day', 'agent', 'model', 'sessions', 'sessions_without_known_cost', 'tokens', 'cost_usd'];
  const lines = groups.map((group) => [
    group.day,
    toText(group.agent),
    toText(group.model),
    String(group.sessions_count),
    String(group.unpriced_count),
    String(group.tokens),
    // With fixed digits, never as `1e-7`.
    group.cost_usd.toFixed(9),
  ]);
  return [head, ...lines].map((cells) => `${cells.map(quote).join(',')}\r\n`).join('');
}

/** Spreadsheets run a cell that begins with one of these characters, even after spaces; an apostrophe makes it text. */
function toText(text: string): string {
  return /^\s*[=+\-@\t\r＝＋－＠]/.test(text) ? `'${text}` : text;
}

function quote(cell: string): string {
  return /[",\r\n;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
