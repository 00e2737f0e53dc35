import type { EngineFailure } from '../engine.ts';

/** A stream that went wrong in a way that its reader already understood. */
export class StreamError extends Error {
  override readonly name = 'StreamError';
  readonly failure: EngineFailure;

  constructor(failure: EngineFailure) {
    super(failure.message);
    this.failure = failure;
  }
}
