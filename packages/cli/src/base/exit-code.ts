/** The exit codes of all commands; the help of each command lists its own (SPEC C8). */
export const exitCode = {
  ok: 0,
  /** The run failed, or the stream that was read does not contain a successful run. */
  failed: 1,
  /** Wrong usage, or the file cannot be read. */
  usage: 2,
  /** The API key is missing or wrong. */
  key: 3,
  /** No such session, thread, run or agent. */
  notFound: 4,
  /** The server rejected the request or failed. */
  refused: 5,
  /** No server responds at the URL. */
  unreachable: 6,
  /** `watch --once`: an approval or a question is pending. */
  needsYou: 7,
  /** `watch --once`: a thread is stalled. */
  stalled: 8,
  /** The server exited on an error that no code handles: a defect. EX_SOFTWARE of sysexits.h. */
  unexpected: 70,
  /** Ended by a signal: 128 plus the number of the signal, as in shells. */
  SIGHUP: 129,
  SIGINT: 130,
  SIGTERM: 143,
} as const;
