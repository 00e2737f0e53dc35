/** Numbers that bound the Changes tab. Each has a test at its edge. */
export const changesTabLimits = {
  /** Characters of one line of a diff or file; the rest is counted. */
  lineCharsMax: 2_000,
  /** Bytes of a file that is shown; a larger one can be downloaded. */
  fileBytesMax: 2_000_000,
  /** Files of the whole tree that are listed. */
  treeFilesMax: 5_000,
  /** Recorded changes that can be chosen as the moment to restore, besides the beginning; the newest ones. */
  momentsMax: 100,
  /** How long the typed name of a branch must stay unchanged before its preview is requested. */
  typedWaitMs: 300,
} as const;
