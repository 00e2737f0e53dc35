/** What the commands return to the shell; the help of every command lists them (SPEC C8). */
export const exitCode = {
  ok: 0,
  /** The stream was read, but it is not the record of a run that ended well; or the run failed. */
  failed: 1,
  /** The command was called wrongly, or its file cannot be read. */
  usage: 2,
  /** The server does not take the key, or asks for one. */
  key: 3,
  /** There is no such session, thread, run or agent. */
  notFound: 4,
  /** The server does not do what it was asked for, or could not. */
  refused: 5,
  /** Nobody answers at the address. */
  unreachable: 6,
  /** What `watch --once` found: somebody has to answer. */
  needsYou: 7,
  /** The same: nothing is heard of a thread that should be heard of. */
  stalled: 8,
  /** The server ended on an error that no code handles: a defect. EX_SOFTWARE of sysexits.h. */
  unexpected: 70,
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

/** The same table for all commands that talk to a server (SPEC Y2). */
export const SERVER_EXIT_CODE_HELP = `
Exit codes:
  0    it is done; of a run: it ended well
  1    the run failed
  2    wrong usage
  3    the key is missing or wrong
  4    there is no such session, run or agent
  5    the server refused it, or something went wrong there
  6    there is no server at this address
  130  stopped with Ctrl-C`;
