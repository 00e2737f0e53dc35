/** Every number that bounds the fleet library. Each has a test at its edge. */
export const limits = {
  /** How much of a turn's text a slot keeps unless told otherwise: the end of it. Its whole length is always known. */
  textCharsMax: 8_192,
  /** Tools that a slot keeps; the longest finished go first, and all are counted. */
  toolsMax: 64,
  /** Files that a slot keeps, by path and size; all are counted. */
  filesMax: 64,
  /** Characters of what a tool is doing, e.g. its command. */
  labelCharsMax: 120,
  /** Characters of "now doing", where it is the end of a text. */
  doingCharsMax: 60,
  /** Slots that a run keeps; the longest ended go first, and the totals keep what they cost. */
  slotsPerRunMax: 2_000,
  /** Runs that a session keeps; the oldest go first, and the totals keep what they cost. */
  runsMax: 32,
  /** Approvals that a run keeps once they are answered. Open ones are all kept. */
  answeredApprovalsMax: 64,
  /** Gaps that are kept with their place; all are counted. */
  gapsMax: 100,
  /** Sessions that a fleet keeps; those that ended longest ago go first. */
  sessionsMax: 1_000,
  /** Children of one `/parallel` block, and tasks of one `delegate`. */
  childrenMax: 16,
  /** Longest line that can be a command, and longest prompt or block. What is longer is refused, and shown. */
  commandCharsMax: 1_048_576,
  /** Names in a status line before it says how many more there are, and characters of each. */
  statusNamesMax: 64,
  statusNameCharsMax: 64,
  /** Characters of a rule as answers carry it: what our server takes. */
  ruleCharsMax: 4_096,
} as const;
