/** Numbers that bound the session page. Each has a test at its edge. */
export const sessionLimits = {
  /** Log lines of one block in the inspector. */
  rawLinesMax: 100,
  /** Deltas of one model request in the inspector. */
  deltasMax: 500,
  /** Model requests in a comparison of two threads. */
  comparedRequestsMax: 500,
  /** Hits of a search. */
  hitsMax: 200,
  /** Characters of an exported HTML page; the NDJSON export has no limit. */
  exportCharsMax: 20_000_000,
} as const;
