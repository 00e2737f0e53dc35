import { isRunning } from '../overview/agent-facts.ts';
import { type Agent, MAIN, type Overview } from '../overview/overview.ts';
import type { Row } from '../../terminal/row.ts';
import { toAgentState } from './agent-state.ts';
import { BAREST_DETAIL, type Detail } from './detail.ts';
import { drawOverview } from './draw-overview.ts';
import type { Drawing } from './drawing.ts';

/** A tree that fits, and its detail level. */
export interface Fitted {
  rows: Row[];
  level: number;
}

/**
 * The highest detail level with which the tree fits. `level` is the previous one: a higher level is used again only with
 * some spare rows, so that the tree does not jump back and forth.
 */
export function fitOverview(
  overview: Overview,
  drawing: Omit<Drawing, 'detail'>,
  details: readonly Detail[],
  rowsMax: number,
  level = 0,
): Fitted {
  for (const [next, detail] of details.entries()) {
    const room = next < level ? rowsMax - SPARE_ROWS : rowsMax;
    const rows = drawOverview(overview, { ...drawing, detail, rowsMax: room });
    if (rows.length <= room) return { rows, level: next };
  }
  return { rows: drawMostRelevant(overview, drawing, rowsMax), level: details.length };
}

const SPARE_ROWS = 3;

/** More agents than rows: agents that need the user first, then running ones; the others are counted. */
function drawMostRelevant(overview: Overview, drawing: Omit<Drawing, 'detail'>, rowsMax: number): Row[] {
  const ranked = [...overview.agents.values()].sort((a, b) => rank(overview, b) - rank(overview, a));
  let rows: Row[] = [];
  for (let count = rowsMax; count >= 0; count -= 1) {
    const only = withParents(overview, ranked.slice(0, count));
    rows = drawOverview(overview, { ...drawing, detail: BAREST_DETAIL, only });
    if (rows.length <= rowsMax) return rows;
  }
  // In a window of a few lines, the totals are the most useful.
  return [...rows.slice(0, rowsMax - 1), ...rows.slice(-1)];
}

/** Running agents keep their order, so that rows stay in place; ended ones are sorted latest first. */
function rank(overview: Overview, agent: Agent): number {
  const { sign } = toAgentState(overview, agent);
  if (sign === 'needsYou') return 4;
  if (sign === 'failed' || sign === 'retry') return 3;
  if (isRunning(overview, agent)) return 2;
  // Timestamps are below 2^42.
  return (agent.last.arrivalMs ?? agent.last.lineMs ?? 0) / 2 ** 42;
}

function withParents(overview: Overview, agents: readonly Agent[]): Set<string> {
  const keys = new Set<string>([MAIN]);
  for (const agent of agents) {
    for (let at: Agent | undefined = agent; at && !keys.has(at.key); at = overview.agents.get(at.parent ?? MAIN)) {
      keys.add(at.key);
    }
  }
  return keys;
}
