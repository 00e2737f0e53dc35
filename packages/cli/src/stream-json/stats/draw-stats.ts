import { cleanLine, formatCost, formatCount, formatSpan } from '@fleetloom/protocol/text';
import type { Look } from '../../terminal/look.ts';
import type { Style } from '../../terminal/palette.ts';
import { span } from '../../terminal/row.ts';
import { textWidth, truncateText } from '../../terminal/text-width.ts';
import type { AgentStats, Stats } from './to-stats.ts';

/** The figures as a table: one line per agent, the total, and an explanation of the columns. */
export function drawStats(stats: Stats, width: number, look: Look): string[] {
  const { glyphs } = look;
  const rows = [
    HEADINGS,
    ...stats.agents.map((agent) => toCells(agent, glyphs.unknown)),
    totalCells(stats, glyphs.unknown),
  ];
  const widths = HEADINGS.map((_, column) =>
    rows.reduce((most, cells) => Math.max(most, textWidth(cells[column] ?? '')), 0),
  );
  const fixed = widths.slice(1).reduce((sum, columns) => sum + columns + GAP, 0);
  widths[0] = Math.max(NAME_MIN, Math.min(widths[0] ?? 0, width - fixed));
  const rule = look.paint(
    glyphs.rule.repeat(widths.reduce((sum, columns) => sum + columns, 0) + GAP * (widths.length - 1)),
    'rail',
  );
  const lines = rows.map((cells, index) => paintCells(cells, widths, look, styleOf(stats, index)));
  const said = look.unicode ? NOTE : NOTE.replaceAll('–', '-');
  return [lines[0] ?? '', ...lines.slice(1, -1), rule, lines.at(-1) ?? '', '', look.paint(said, 'dim')];
}

const HEADINGS = ['agent', 'status', 'blocks', 'calls', 'failed', 'tokens', 'cost', 'time'];
const GAP = 2;
const NAME_MIN = 12;
const NOTE = `Tokens of sub-agents are as the program counts them, their last request; the total is all requests.
The stream contains the cost of the whole run only. – means not in the stream.`;

function toCells(agent: AgentStats, unknown: string): string[] {
  const name = cleanLine(agent.description ?? '') || cleanLine(agent.type ?? '') || cleanLine(agent.thread);
  return [
    `${'  '.repeat(Math.min(agent.depth, 8))}${name}`,
    agent.status,
    String(agent.blocks),
    String(agent.tool_calls),
    String(agent.tool_calls_failed),
    agent.tokens === null ? unknown : formatCount(agent.tokens),
    unknown,
    agent.duration_ms === null ? unknown : formatSpan(agent.duration_ms),
  ];
}

function totalCells({ total, turns }: Stats, unknown: string): string[] {
  const tokens = total.input_tokens === null ? null : total.input_tokens + (total.output_tokens ?? 0);
  return [
    `total of ${total.agents}`,
    turns === 1 ? '1 turn' : `${turns} turns`,
    String(total.blocks),
    String(total.tool_calls),
    String(total.tool_calls_failed),
    tokens === null ? unknown : formatCount(tokens),
    total.cost_usd === null ? unknown : formatCost(total.cost_usd),
    total.duration_ms === null ? unknown : formatSpan(total.duration_ms),
  ];
}

function styleOf(stats: Stats, index: number): (column: number) => Style {
  const agent = stats.agents[index - 1];
  if (index === 0) return () => 'dim';
  if (!agent) return () => 'bold';
  return (column) => {
    if (column === 1) return agent.status === 'completed' ? 'ok' : agent.status === 'failed' ? 'failed' : 'attention';
    if (column === 4 && agent.tool_calls_failed > 0) return 'failed';
    return 'plain';
  };
}

function paintCells(
  cells: readonly string[],
  widths: readonly number[],
  look: Look,
  style: (column: number) => Style,
): string {
  const painted = cells.map((cell, column) => {
    const width = widths[column] ?? 0;
    const text = truncateText(cell, width, look.glyphs.ellipsis);
    const blank = ' '.repeat(Math.max(0, width - textWidth(text)));
    const piece = span(column < 2 ? text + blank : blank + text, style(column));
    return look.paint(piece.text, piece.style);
  });
  return painted.join(' '.repeat(GAP)).trimEnd();
}
