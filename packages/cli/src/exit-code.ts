/** What the commands return to the shell; the help of every command lists them (SPEC C8). */
export const exitCode = {
  ok: 0,
  /** The stream was read, but it is not the record of a run that ended well. */
  failed: 1,
  /** The command was called wrongly, or its file cannot be read. */
  usage: 2,
  /** Ctrl-C. */
  interrupted: 130,
} as const;

/** What the exit code depends on. */
export interface Outcome {
  unreadableLines: number;
  openTurns: number;
  /** Undefined: no turn ended. */
  lastTurnFailed: boolean | undefined;
}

/** A run counts as good when every line was readable, every turn ended, and the last one without an error. */
export function toExitCode(outcome: Outcome): number {
  const good = outcome.unreadableLines === 0 && outcome.openTurns === 0 && outcome.lastTurnFailed === false;
  return good ? exitCode.ok : exitCode.failed;
}

export const EXIT_CODE_HELP = `
Exit codes:
  0    the run ended well
  1    the stream had unreadable lines, an unfinished turn, no result, or the last turn failed
  2    wrong usage, or the file cannot be read
  130  interrupted with Ctrl-C`;
