/**
 * Runs a part of the preparation of a session when it is the turn of the workspace of the session. Undefined: the signal came before,
 * and the work was not begun.
 */
export type InTurn = <Result>(
  sessionId: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
) => Promise<{ readonly result: Result } | undefined>;
