/** Numbers that bound the stores. Each has a test at its edge. */
export const storeLimits = {
  /** The least time between two changes that the fleet store emits. */
  rowsMs: 100,
  /** Newest sessions whose logs are loaded at the start. */
  recentSessionsMax: 4,
  /** Other sessions of the same time that a replay shows. */
  replaySessionsMax: 8,
  /** How long a decision can be undone before it is sent, by default. */
  undoMs: 1_500,
  /** Rows of a page of the list of sessions. */
  listPage: 200,
  /** How long after a change the list of sessions is requested again, and the least time between two such requests. */
  listDelayMs: 200,
  listRefreshMs: 2_000,
  /** How long after the last change of a rule's form its preview is requested. */
  rulePreviewMs: 200,
  /** Drafts that a browser keeps, and characters of each. */
  draftsMax: 50,
  draftCharsMax: 20_000,
  /** Views that a user can save, and characters of a name. */
  viewsMax: 20,
  viewNameCharsMax: 40,
  /** The least time between two announcements to screen readers. */
  announceMs: 5_000,
  /** Requests of one action on several sessions at the same time. */
  bulkRequestsMax: 4,
} as const;
