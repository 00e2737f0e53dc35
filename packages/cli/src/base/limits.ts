/** All limits of the command line. Each has a test at its edge. */
export const limits = {
  /** How long a shell waits for the ids that it completes. */
  completionMs: 2_000,
  /** Sessions that a shell offers. */
  completionsMax: 100,
  /** How long `doctor` ignores the data directory of a run that has no record yet. */
  runBeginsMs: 60_000,
  /** Shortest time between two redraws: 20 per second. */
  frameMsMin: 50,
  /** Time between two redraws when no event arrives but durations are shown. */
  tickMs: 100,
  /** Texts and tool calls that the overview keeps per agent; older entries are only counted. */
  entriesPerAgentMax: 400,
  /** Characters that the overview keeps of one text; the rest is only counted. `inspect` shows all. */
  textCharsMax: 65_536,
  /** Characters of a tool input or message that are read for its line in the tree. */
  lineCharsMax: 2_000,
  /** Open tool calls that are tracked per agent. */
  openCallsMax: 10_000,
  /** Open questions to the user that are tracked per agent. */
  openRequestsMax: 100,
  /** `inspect --json` prints longer texts, results and prompts as length and hash. */
  inlineCharsMax: 4_000,
  /** Depth of agents that is drawn; Claude Code itself stops at 5. */
  depthDrawnMax: 32,
  /** Rows of the tree that stays on the terminal after the run, without the answer of the main agent. */
  finalRowsMax: 400,
  /** Rows of the answer of the main agent below that tree. */
  answerRowsMax: 1_000,

  /** How long a server may take to close after an error that no code handles. */
  lastResortMs: 5_000,
  /**
   * How long a node with a shared database serves requests after SIGTERM, in seconds, and the longest time that can be set. The
   * default is enough for a load balancer that checks `/readyz` every second and needs two failures.
   */
  drainSecondsShared: 3,
  drainSecondsMax: 3_600,
  /** The longest time that deltas can be kept for, in days, other than forever. */
  keepDeltasDaysMax: 3_650,

  /** The largest size of recorded files that can be set, in megabytes. */
  snapshotFileMbMax: 100,

  // Conformance.
  /** Checks that run at the same time. */
  checksAtOnceMax: 10,
  /** How long one check may take. The longest one waits for a keep-alive, sent at least every 30 s. */
  checkMs: 60_000,
  /** How long one check may take with --thorough. */
  thoroughCheckMs: 600_000,

  // Requests to a server.
  /** How long one HTTP request may take. */
  callMs: 30_000,
  /** How long one request about the changes of a session may take: the files of a large repository are compared. */
  changesCallMs: 300_000,
  /** How long a server may take to find out how an MCP server authorizes: longer than the server's own limit of 30 s. */
  connectBeginMs: 45_000,
  /** Time between two checks whether a user has consented. */
  connectPollMs: 1_000,
  /** How long one command of git may take. */
  gitMs: 10_000,
  /** Size of a file that names a git directory. */
  gitFileBytesMax: 4_096,
  /** Failed reconnects in a row before `run` stops following the run. */
  runRetriesMax: 8,
  /** How long to wait for a cancelled run to end. */
  cancelMs: 15_000,
  /** How long to wait until a session whose run was killed is idle, and the time between two requests for its status. */
  settleMs: 30_000,
  settlePollMs: 50,
  /** Changed files that `run`, `apply` and other commands list at their end; `diff --stat` lists all. */
  statFilesMax: 50,
  /** How long a command waits for another command that has the data of a run open, and the time between two attempts. */
  runDataWaitMs: 30_000,
  runDataPollMs: 200,
  /** Characters of the name of an API key. */
  keyNameCharsMax: 256,
  /** Lowest value of --workspace-wait, in seconds: a lost node is not detected earlier. */
  workspaceWaitSecondsMin: 8,
  /** Agent definitions in one directory. */
  agentFilesMax: 500,
  /** Characters of the task of a run that `runs` can show. */
  keptTaskCharsMax: 200,
  /** Newest sessions of a server that are searched for the last run of a repository. */
  sessionsSearchedMax: 500,
  /** Sessions that `sessions` and the chooser of `watch` list by default. */
  sessionsListed: 50,
  /** Rows of the list of sessions in `watch`; the counts are of all sessions. */
  sessionRowsMax: 200,
  /** How long a server may take to respond to the request that checks whether it is running. */
  openCallMs: 5_000,
  /** Sessions that an error lists when an id prefix is ambiguous. */
  candidatesShown: 5,
  /** Characters of a typed reason, message or filter. */
  typedCharsMax: 4_000,
  /** Characters of a turn's text that `watch` keeps, from its end. */
  watchTextCharsMax: 65_536,
  /** Lines of a tool input shown below the list of threads, and on its own page, which scrolls. */
  inputRowsMax: 200,
  inputPageRowsMax: 10_000,
  /** Entries that a thread page keeps (texts, thinking, tool calls, notes), and the number of threads with entries. */
  transcriptEntriesMax: 400,
  transcriptsMax: 500,
  /** Events that a replay can step through. */
  replayEventsMax: 100_000,
  /** Shortest time between two reorderings, when rows are not in tree order. */
  orderMsMin: 3_000,
  /** How long an incomplete escape sequence waits for its rest. */
  keyMs: 50,
  /** Time between two requests for facts that are not on the stream: of the session, and of its stalled threads. */
  factsMsMin: 1_000,
  healthMsMin: 5_000,

  // Importing and following sessions of other programs.
  /** Longer names of models, tools and agents are cut; the server rejects them. */
  importNameCharsMax: 128,
  /** Steps in one request, and their characters. */
  importStepsMax: 1_000,
  importCharsMax: 8 * 1024 * 1024,
  /** Bytes of one line of a session file. Together with the queued steps, the line must fit into one request of 32 MiB. */
  importLineBytesMax: 20 * 1024 * 1024,
  /** Depth of folders below `subagents` that is searched for transcripts; workflows need two. */
  importFoldersMax: 3,
  /** Time between two reads of followed files. */
  attachLookMs: 250,
  /** How long a finished agent must be silent before its turn counts as ended. */
  attachQuietMs: 1_000,
  /** Time between two attempts to reach a server that does not respond, and how long until `attach` gives up. */
  attachRetryMs: 2_000,
  attachPatienceMs: 120_000,
  /** Time between two reports of `attach` to the server that it still follows a session without new lines. */
  attachAliveMs: 15_000,
  /** How long a tool call may have no result before `attach` reports that it is running or waiting for permission. */
  attachCallMs: 10_000,
  /** Time between two requests of `attach --control` for decisions while calls are pending, and calls of a session in one request. */
  attachAskMs: 500,
  attachAsksMax: 100,
  /** How long to wait for the call of a permission prompt in the transcript. After that, only the terminal can decide. */
  attachPromptMs: 10_000,
  /** Permission prompts of all sessions that wait at the same time. */
  attachPromptsMax: 256,
  /** Time between two searches for new sub-agents of Codex, and two exports of a session of opencode. */
  attachRefreshMs: 1_000,
  attachExportMs: 5_000,
  /** How long opencode may take to list or export sessions, and the size of one export. */
  exportMs: 120_000,
  exportBytesMax: 256 * 1024 * 1024,
  /** Time between two searches for new sessions. */
  attachFindMs: 1_000,
  /** Bytes of a secret that is read from standard input or a prompt. */
  secretBytesMax: 65_536,
  /** Sessions that one `attach` follows at the same time. */
  attachSessionsMax: 50,
  /** How long a session file may be unchanged before `attach --all` counts its session as not running. */
  attachRunningMs: 600_000,
} as const;
