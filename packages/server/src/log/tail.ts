import type { Entry } from '../store/frame.ts';
import type { TailEnd } from './feed.ts';

/** The frames of a session from a position on, also those written later. */
export interface Tail {
  next(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  /** Ends it at once, also while it waits for something to happen. */
  return(): Promise<IteratorResult<readonly Entry[], TailEnd>>;
  [Symbol.asyncIterator](): Tail;
}

/** Where a tail begins, and whether it needs deltas. */
export interface TailRequest {
  readonly sessionId: string;
  /** The last one known; 0 for all. */
  readonly after: number;
  readonly signal?: AbortSignal;
  /** The existing log comes without deltas, which become ranges. Frames written in the meantime may include deltas. */
  readonly skipsDeltas?: boolean;
}
