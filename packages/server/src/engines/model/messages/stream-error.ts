import type { EngineFailure } from '../engine.ts';

/** An error of a stream that its reader has already classified. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly failure: EngineFailure;

  constructor(failure: EngineFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
