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
  /** Lines of a tool's input that are shown to who has to approve it. */
  inputRowsMax: 200,
} as const;
