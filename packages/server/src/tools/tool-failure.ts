/** Why a call failed, in words that the model can act on. Any other error that is thrown is a defect of the server. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** The call was interrupted. */
export class Interrupted extends ToolFailure {
  constructor() {
    super('interrupted before it was done');
  }
}

/** Throws {@link Interrupted} if the signal is aborted. */
export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new Interrupted();
}
