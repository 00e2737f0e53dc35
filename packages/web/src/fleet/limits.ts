/** Numbers that bound the fleet table and its lanes. Each has a test at its edge. */
export const tableLimits = {
  /** The least time between two paints of the lanes. */
  lanesMs: 33,
  /** How long a new order by attention has to hold before a row moves. */
  reorderMs: 3_000,
  /** How long no session may be loading before the order of the sessions counts as settled. */
  settledMs: 1_000,
  /** The least time for which a session that ended stays in the table, however short the window of the lanes is. */
  finishedMs: 300_000,
} as const;
