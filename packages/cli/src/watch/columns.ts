/** How wide each column of the list is; 0 where there is no room for it. */
export interface Columns {
  readonly sign: number;
  readonly agent: number;
  /** The state in a word; where it has no column of its own, it begins what is done now. */
  readonly state: number;
  readonly now: number;
  readonly time: number;
  /** Pieces of the last minute. Each divides 60. */
  readonly cells: number;
  readonly context: number;
  readonly cost: number;
}

/** For lines of this width, where the longest name with its place in the tree takes so many columns. */
export function toColumns(width: number, longestName: number): Columns {
  const { agent: agentMax, ...columns } = LAYOUTS.find(({ from }) => width >= from)?.columns ?? SMALLEST;
  const agent = Math.max(8, Math.min(agentMax, longestName));
  const { sign, state, time, cells, context, cost } = columns;
  const gaps = [state, cells, context, cost].filter((column) => column > 0).length + 3;
  // A mark in front; time in state and age both stand there.
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
