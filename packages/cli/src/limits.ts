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
  /** Longer texts, results and prompts are given by `inspect --json` as their length and hash. */
  inlineCharsMax: 4_000,
  /** Texts of an agent that are searched, newest first, for the block that an event speaks of. */
  blockSearchMax: 64,
  /** Lines of the final answer that are printed below the live tree; `inspect` prints all. */
  answerLinesMax: 400,
} as const;
