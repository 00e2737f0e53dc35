/** The exit codes of the commands that read stream-json (SPEC C8). */
export const STREAM_EXIT_CODES = `
Exit codes:
  0    the run succeeded
  1    unreadable lines, an unfinished turn, no result, or the last turn failed
  2    wrong usage, or the file cannot be read
  130  stopped with Ctrl-C`;

/** The exit codes of all commands that send requests to a server (SPEC Y2). */
export const SERVER_EXIT_CODES = `
Exit codes:
  0    done; for a run: it succeeded
  1    the run failed
  2    wrong usage
  3    the key is missing or wrong
  4    no such session, run or agent
  5    the server rejected the request or failed
  6    no server at this address
  130  stopped with Ctrl-C`;
