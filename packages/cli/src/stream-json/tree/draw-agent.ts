import { cleanLine } from '@fleetloom/protocol/text';
import { limits } from '../../base/limits.ts';
import type { Agent, Overview } from '../overview/overview.ts';
import { type Row, span } from '../../terminal/row.ts';
import { displayToolName, summarizeCall } from './call-summary.ts';
import { type Chosen, chooseEntries } from './choose-entries.ts';
import { drawCall } from './draw-call.ts';
import { drawHeader } from './draw-header.ts';
import { drawText } from './draw-text.ts';
import { drawTurn } from './draw-turn.ts';
import type { Drawing } from './drawing.ts';

/** Prefixes of a branch: of its first row, and of the rows below. */
interface Branch {
  head: string;
  rest: string;
  depth: number;
}

/** One agent: its header line, then its texts and calls, with the agents it spawned at their calls. */
export function drawAgent(rows: Row[], overview: Overview, drawing: Drawing, agent: Agent, branch: Branch): void {
  rows.push(drawHeader(overview, drawing, agent, span(branch.head, 'rail')));
  // A hostile stream can nest agents deeper than the call stack allows.
  const chosen = branch.depth < limits.depthDrawnMax ? chooseEntries(overview, drawing, agent) : TOO_DEEP;
  for (const [index, each] of chosen.entries()) {
    if (drawing.rowsMax !== undefined && rows.length > drawing.rowsMax) return;
    drawChosen(rows, overview, drawing, branch, each, index === chosen.length - 1);
  }
}

const TOO_DEEP: Chosen[] = [{ type: 'counted', says: 'nested too deeply to show' }];

function drawChosen(
  rows: Row[],
  overview: Overview,
  drawing: Drawing,
  { rest, depth }: Branch,
  chosen: Chosen,
  last: boolean,
): void {
  const { glyphs } = drawing;
  const corner = last ? glyphs.lastBranch : glyphs.branch;
  const below = `${rest}${last ? ' ' : glyphs.rail} `;
  const beside = span(`${rest}${corner} `, 'rail');
  switch (chosen.type) {
    case 'agent': {
      const head = `${rest}${corner}${glyphs.reach}`;
      return drawAgent(rows, overview, drawing, chosen.agent, { head, rest: below, depth: depth + 1 });
    }
    case 'call':
      rows.push(drawCall(overview, drawing, chosen.call, chosen.asks, beside));
      return;
    case 'turn':
      rows.push(drawTurn(overview, drawing, chosen.turn, beside));
      return;
    case 'text': {
      const first = last ? beside : span(below, 'rail');
      for (const row of drawText(drawing, chosen, first, span(below, 'rail'))) rows.push(row);
      return;
    }
    case 'request': {
      const what = summarizeCall(chosen.request.toolName, chosen.request.input, overview.cwd);
      const asks = span(`${glyphs.needsYou} needs you  `, 'attention');
      const name = span(cleanLine(displayToolName(chosen.request.toolName)), 'bold');
      rows.push({ left: [beside, asks, name, span(`  ${what}`)], right: [] });
      return;
    }
    case 'failure':
      rows.push({ left: [beside, span(`${glyphs.failed} ${chosen.says}`, 'failed')], right: [] });
      return;
    case 'counted':
      rows.push({ left: [beside, span(`${glyphs.ellipsis} ${chosen.says}`, 'dim')], right: [] });
  }
}
