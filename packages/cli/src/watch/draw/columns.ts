/** Width of each column of the list; 0 if there is no room. */
export interface Columns {
  readonly sign: number;
  readonly agent: number;
  /** The state as a word; without its own column, it precedes the activity. */
  readonly state: number;
  readonly now: number;
  readonly time: number;
  /** Segments of the last minute. Divides 60. */
  readonly cells: number;
  readonly context: number;
  readonly cost: number;
}

/** Column widths for lines of this width, given the width of the longest name with its indentation. */
export function toColumns(width: number, longestName: number): Columns {
  const { agent: agentMax, ...columns } = LAYOUTS.find(({ from }) => width >= from)?.columns ?? SMALLEST;
  const agent = Math.max(8, Math.min(agentMax, longestName));
  const { sign, state, time, cells, context, cost } = columns;
  const gaps = [state, cells, context, cost].filter((column) => column > 0).length + 3;
  // A mark in front, then time in state and age.
  const taken = 1 + sign + agent + state + 2 * time + cells + context + cost + gaps;
  return { ...columns, agent, now: Math.max(0, width - taken) };
}

type Layout = Omit<Columns, 'now'>;

const BASE: Layout = { sign: 3, agent: 18, state: 0, time: 4, cells: 10, context: 4, cost: 6 };
const LAYOUTS: readonly { readonly from: number; readonly columns: Layout }[] = [
  { from: 140, columns: { ...BASE, agent: 36, state: 9, cells: 20 } },
  { from: 110, columns: { ...BASE, agent: 26, state: 9, cells: 12 } },
  { from: 90, columns: { ...BASE, agent: 22, cells: 12 } },
  { from: 74, columns: BASE },
  { from: 56, columns: { ...BASE, cells: 0, agent: 16 } },
];
const SMALLEST: Layout = { ...BASE, agent: 12, cells: 0, context: 0, cost: 0 };
