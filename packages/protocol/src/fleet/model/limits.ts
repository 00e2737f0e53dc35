/** Limits of what both user interfaces show. Each has a test at its edge. */
export const limits = {
  /** Characters of "now doing" if it is the end of a text. */
  doingCharsMax: 60,
  /** Characters of an approval rule in a decision: the server accepts no more. */
  ruleCharsMax: 4_096,
  /** Milliseconds without an event after which a thread that waits for its model is stalled. */
  stalledMs: 60_000,
  /** How often the last activity of a session is recorded while text arrives. */
  activityMs: 10_000,
  /** Characters of the name of a session. */
  sessionNameCharsMax: 80,
  /** Characters of a short id: ten of time, two of chance. */
  shortIdChars: 12,
  /** Characters of an id behind its constant beginning. */
  idChars: 22,
} as const;
