/** Every number that bounds the command line. Each has a test at its edge. */
export const limits = {
  /** Shortest time between two pictures: 20 a second. */
  frameMsMin: 50,
  /** Time between two pictures when nothing arrives but a clock is running. */
  tickMs: 100,
  /** Texts and calls that the overview keeps per agent; older ones are only counted. */
  entriesPerAgentMax: 400,
  /** Characters that the overview keeps of one text; the rest is only counted. `inspect` shows all. */
  textCharsMax: 65_536,
  /** Characters of a tool's input or a message that are looked at for its one line in the tree. */
  lineCharsMax: 2_000,
  /** Calls of one agent that are remembered as open. */
  openCallsMax: 10_000,
  /** Questions of one agent to the user that are remembered as open. */
  openRequestsMax: 100,
  /** Longer texts, results and prompts are given by `inspect --json` as their length and hash. */
  inlineCharsMax: 4_000,
  /** Agents below agents that are drawn; Claude Code itself stops at 5. */
  depthDrawnMax: 32,
  /** Rows of the tree that is left on the terminal when the run is over, the main agent's answer not counted. */
  finalRowsMax: 400,
  /** Rows of that answer. */
  answerRowsMax: 1_000,

  /** How long a server may take to close after an error that no code handles. */
  lastResortMs: 5_000,

  // Conformance.
  /** Checks that run at the same time. */
  checksAtOnceMax: 10,
  /** How long one check may take. The longest waits for a sign of life, which comes at least every 30 seconds. */
  checkMs: 60_000,
  /** The same when everything is repeated many times. */
  thoroughCheckMs: 600_000,

  // Talking to a server.
  /** How long one call may take. */
  callMs: 30_000,
  /** How often in a row a run's stream may fail to come back before the run is left alone. */
  runRetriesMax: 8,
  /** How long the end of a run that was cancelled is waited for. */
  cancelMs: 15_000,
  /** Characters of what a key is for. */
  keyNameCharsMax: 256,
  /** Seconds that sessions wait for their server at least: until then nobody knows whether one is gone. */
  workspaceWaitSecondsMin: 8,
  /** Definitions of agents in one directory. */
  agentFilesMax: 500,
  /** How long a turn that waits for its model may be silent before it counts as stalled. */
  stalledMs: 30_000,
  /** Sessions that are listed unless told otherwise, and in the list to choose from. */
  sessionsListed: 50,
  /** Characters that can be typed at once: a reason, a message, a filter. */
  typedCharsMax: 4_000,
  /** Characters of a turn's text that the terminal view keeps: the end of it. */
  watchTextCharsMax: 65_536,
  /** Lines of a tool's input that are shown below the list of threads, and where they can be scrolled through. */
  inputRowsMax: 200,
  inputPageRowsMax: 10_000,
  /** What a thread's page keeps: texts, thoughts, calls and notes; and threads of which so much is kept. */
  transcriptEntriesMax: 400,
  transcriptsMax: 500,
  /** Events that can be gone through one by one. */
  replayEventsMax: 100_000,
  /** How long rows stand where they are, when they are not in the order of the tree. */
  orderMsMin: 3_000,
  /** How long the beginning of a key waits for its rest. */
  keyMs: 50,
  /** Time between two looks at what the stream of events does not tell about a session, and about its stalled threads. */
  factsMsMin: 1_000,
  healthMsMin: 5_000,

  // Importing sessions of Claude Code.
  /** Longer names of models, tools and agents are cut: the server takes no longer ones. */
  importNameCharsMax: 128,
  /** Steps, and characters of them, of one request. */
  importStepsMax: 1_000,
  importCharsMax: 8 * 1024 * 1024,
  /** One line of a session file. With what waits to be sent it has to fit into one request, which has 32 MiB. */
  importLineBytesMax: 20 * 1024 * 1024,
  /** Folders below `subagents` in which transcripts are looked for; workflows need two. */
  importFoldersMax: 3,
  /** Time between two looks at files that are followed. */
  attachLookMs: 250,
  /** How long an agent that has nothing more to say is silent before its turn counts as over. */
  attachQuietMs: 1_000,
  /** Time between two attempts to reach a server that does not answer, and how long it is waited for. */
  attachRetryMs: 2_000,
  attachPatienceMs: 120_000,
  /** How often the server is told that somebody still follows, when nothing happens. */
  attachAliveMs: 15_000,
  /** How long a tool call may have no result before `attach` reports that it runs or waits for permission. */
  attachCallMs: 10_000,
  /** Time between two searches for sessions that have begun. */
  attachFindMs: 1_000,
  /** Sessions that one `attach` follows at a time. */
  attachSessionsMax: 50,
  /** How long a session file may be unchanged before `attach --all` counts its session as not running. */
  attachRunningMs: 600_000,
} as const;
