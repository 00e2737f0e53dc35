import { cleanLine } from '@fleetloom/protocol/text';
import { MAIN, type Overview } from '../overview/overview.ts';
import { type Row, span } from '../../terminal/row.ts';
import { drawAgent } from './draw-agent.ts';
import { drawTotals } from './draw-totals.ts';
import type { Drawing } from './drawing.ts';

/** The whole tree: a line about the run, one branch per agent, a line of totals. */
export function drawOverview(overview: Overview, drawing: Drawing): Row[] {
  const rows: Row[] = [drawTitle(overview, drawing), { left: [], right: [] }];
  const main = overview.agents.get(MAIN);
  if (main) drawAgent(rows, overview, drawing, main, { head: '', rest: '', depth: 0 });
  rows.push({ left: [], right: [] }, drawTotals(overview, drawing));
  return rows;
}

export function drawTitle(overview: Overview, { glyphs, title }: Drawing): Row {
  const facts = [title, overview.model, overview.version && `Claude Code ${overview.version}`, overview.cwd];
  const said = facts.filter((fact) => fact !== undefined && fact !== '').map((fact) => cleanLine(String(fact)));
  return { left: [span('fleetloom', 'brand'), span(`  ${said.join(` ${glyphs.dot} `)}`, 'dim')], right: [] };
}
