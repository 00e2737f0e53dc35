/**
 * Runs a part of the preparation of a session when it is the turn of the session's API workspace. Undefined if the signal was aborted
 * before, so that the work was not begun.
 */
export type InTurn = <Result>(
  sessionId: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
) => Promise<{ readonly result: Result } | undefined>;
