/** Receives errors that no caller waits for. Must not throw. */
export type Report = (error: unknown) => void;

/**
 * Starts work that no caller waits for, and reports its failure. This is the only way to drop a promise: an unhandled
 * rejection ends the process.
 *
 * @example
 * inBackground(sweepExpiredTokens(), onProblem);
 */
export function inBackground(work: PromiseLike<unknown>, report: Report): void {
  work.then(undefined, report);
}

/** The report function of code without one of its own: a warning of the process, on stderr. */
export const reportAsWarning: Report = (error) => process.emitWarning(error instanceof Error ? error : String(error));

/** For work whose failure changes nothing, such as cancelling a stream that is already broken. */
export function ignoringFailure(work: PromiseLike<unknown> | undefined): void {
  work?.then(undefined, () => undefined);
}
