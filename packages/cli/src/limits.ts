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
} as const;
