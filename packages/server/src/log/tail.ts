import type { Entry } from '../store/frame.ts';
import type { TailEnd } from './feed.ts';

/** The frames of a session from a position on, also those written later. */
export interface Tail {
  next(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  /** Ends the tail at once, also while `next` waits. */
  return(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  [Symbol.asyncIterator](): Tail;
}

/** Where a tail begins, and whether it reads deltas. */
export interface TailRequest {
  readonly sessionId: string;
  /** The last `seq` that the reader knows; 0 for the whole log. */
  readonly after: number;
  readonly signal?: AbortSignal;
  /** Deltas in the existing log are read as pruned ranges. Frames written later may include deltas. */
  readonly skipsDeltas?: boolean;
}
