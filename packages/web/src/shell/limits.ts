/** Numbers that bound the shell. Each has a test at its edge. */
export const shellLimits = {
  /** Entries of the command palette. */
  commandsMax: 100,
  /** Sessions in the palette: found by words, and the recent ones before a word is typed. */
  foundMax: 40,
  recentMax: 8,
  /** How long after the last letter the palette searches sessions. */
  searchMs: 120,
} as const;
