/** Numbers that bound the Sessions page. Each has a test at its edge. */
export const pageLimits = {
  /** How long after the last letter a search starts. */
  searchMs: 150,
  /** Characters of a search, the limit of the server. */
  searchCharsMax: 500,
} as const;
