import { CHAIN_START, type ChainEnd, toEntryHash, toEntryText } from './audit.ts';

/** An entry in the form of the API and the output. */
export interface CheckedEntry {
  readonly workspace_id: string;
  readonly seq: number;
  readonly recorded_at: string;
  readonly entry: object;
  readonly hash: string;
}

/**
 * Checks entries of one workspace, in order, against the chain of their hashes. Each problem is one sentence; after a problem
 * the chain continues with the entry that caused it, so that later problems are found as well.
 */
export class ChainCheck {
  #last: ChainEnd | undefined;

  /** Without a start, the first entry is not checked against a previous one, unless it is the first of the chain. */
  constructor(start?: ChainEnd) {
    this.#last = start;
  }

  /** The last entry that was checked. */
  get last(): ChainEnd | undefined {
    return this.#last;
  }

  add({ workspace_id: workspaceId, seq, recorded_at: at, entry, hash }: CheckedEntry): string | undefined {
    const before = this.#last ?? (seq === 1 ? CHAIN_START : undefined);
    this.#last = { seq, hash };
    if (before === undefined) return undefined;
    if (seq !== before.seq + 1) return `entry ${seq} follows entry ${before.seq}: entries are missing or out of order`;
    const text = toEntryText(entry);
    const expected = toEntryHash(before.hash, { workspaceId, seq, time: Date.parse(at) }, text);
    return expected === hash ? undefined : `entry ${seq} was changed, or the one before it: its hash does not match`;
  }

  /** Compares an entry known from another source with the one found at its number; the problem, or undefined. */
  static compare(known: ChainEnd, found: ChainEnd | undefined): string | undefined {
    if (found === undefined) return `the log ends before entry ${known.seq}, which was there: its end was removed`;
    return found.hash === known.hash
      ? undefined
      : `entry ${known.seq} is not the one that was there: the log was rewritten`;
  }
}
