/** Why a tool could not do it, in words that the model can act on. Everything else that is thrown is a mistake of ours. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';
}

/** Somebody pressed stop. */
export class Interrupted extends ToolFailure {
  constructor() {
    super('interrupted before it was done');
  }
}

export function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new Interrupted();
}
