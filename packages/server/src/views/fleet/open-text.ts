/**
 * What one model request has emitted of its text, or of its thinking, and how much of that is settled: the log has the whole block.
 * The blocks that the log has, in its order, are what stays of a request that is cut off.
 */
export interface OpenText {
  /** Characters of the beginning that are settled, in the order of the log. */
  kept: number;
  /** What was emitted behind them: how many characters of which block. */
  readonly pending: { readonly id: string; chars: number }[];
  /** The text of the blocks that were settled behind something that was not, in the order of the log. */
  late: string;
}

export function createOpenText(): OpenText {
  return { kept: 0, pending: [], late: '' };
}

/** More of a block was emitted. */
export function growBlock({ pending }: OpenText, id: string, chars: number): void {
  const last = pending.at(-1);
  if (last?.id === id) last.chars += chars;
  else if (chars > 0) pending.push({ id, chars });
}

/** The log has the whole block. Returns what of it was not emitted yet, which is to be emitted now. */
export function settleBlock(open: OpenText, id: string, text: string): string {
  const { pending } = open;
  const grown = pending.reduce((sum, piece) => (piece.id === id ? sum + piece.chars : sum), 0);
  const rest = text.slice(grown);
  growBlock(open, id, rest.length);
  const [first] = pending;
  const isNext = open.late === '' && first?.id === id && first.chars === text.length;
  if (isNext) {
    open.kept += first.chars;
    pending.shift();
  } else open.late += text;
  return rest;
}

/** Whether what was emitted is exactly what the log has. */
export function isSettled({ pending }: OpenText): boolean {
  return pending.length === 0;
}

/** How many characters were emitted. */
export function lengthOf({ kept, pending }: OpenText): number {
  return pending.reduce((sum, { chars }) => sum + chars, kept);
}
