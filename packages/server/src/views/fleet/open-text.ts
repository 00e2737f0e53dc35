/**
 * The text, or the thinking, that one model request has emitted, and how much of it is settled: its whole block is in the log.
 * Of a request that is cut off, the blocks in the log stay, in the order of the log.
 */
export interface OpenText {
  /** Characters of the beginning that are settled, in the order of the log. */
  kept: number;
  /** Characters emitted behind the settled ones, by block. */
  readonly pending: { readonly id: string; chars: number }[];
  /** The text of blocks that were settled while an earlier block was not, in the order of the log. */
  late: string;
}

export function createOpenText(): OpenText {
  return { kept: 0, pending: [], late: '' };
}

/** Records that more of a block was emitted. */
export function growBlock({ pending }: OpenText, id: string, chars: number): void {
  const last = pending.at(-1);
  if (last?.id === id) last.chars += chars;
  else if (chars > 0) pending.push({ id, chars });
}

/** Settles a block that is now in the log as a whole. Returns the part to emit: that which was not emitted before. */
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

/** The number of emitted characters. */
export function lengthOf({ kept, pending }: OpenText): number {
  return pending.reduce((sum, { chars }) => sum + chars, kept);
}
