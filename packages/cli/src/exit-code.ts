/** What the commands return to the shell; the help of every command lists them (SPEC C8). */
export const exitCode = {
  ok: 0,
  /** The stream was read, but it is not the record of a run that ended well. */
  failed: 1,
  /** The command was called wrongly, or its file cannot be read. */
  usage: 2,
  /** As shells count signals: 128 and the signal's number. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

export const EXIT_CODE_HELP = `
Exit codes:
  0    the run ended well
  1    there were unreadable lines, an unfinished turn or no result, or the last turn failed
  2    wrong usage, or the file cannot be read
  130  stopped with Ctrl-C`;
