/** Limits of the fold over a fleet stream. Each has a test at its edge. */
export const limits = {
  /** Characters of a turn's text that a slot keeps by default: the end of the text. The whole length is always known. */
  textCharsMax: 8_192,
  /** Tools that a slot keeps. The tools that finished first are dropped first; all are counted. */
  toolsMax: 64,
  /** Files that a slot keeps, by path and size; all are counted. */
  filesMax: 64,
  /** Characters of a tool's label, e.g. its command. */
  labelCharsMax: 120,
  /** Characters of the output of a running call that are kept: the end of it. */
  outputCharsMax: 2_000,
  /** Slots that a run keeps. The slots that ended first are dropped first; the totals keep their cost. */
  slotsPerRunMax: 2_000,
  /** Runs that a session keeps. The oldest are dropped first; the totals keep their cost. */
  runsMax: 32,
  /** Resolved approvals that a run keeps. Pending approvals are all kept. */
  answeredApprovalsMax: 64,
  /** Gaps that are kept with their position; all are counted. */
  gapsMax: 100,
  /** Errors outside of turns that a session keeps since its newest run started. The oldest are dropped first. */
  sessionErrorsMax: 16,
  /** Sessions that a fleet keeps. Sessions that ended first are dropped first. */
  sessionsMax: 1_000,
} as const;
