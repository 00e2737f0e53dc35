/** Limits of text commands and the status line. Each has a test at its edge. */
export const limits = {
  /** Children of one `/parallel` block, and tasks of one `delegate` call. */
  childrenMax: 16,
  /** Characters of the longest line that can be a command, and of the longest prompt or block. Longer ones are rejected and shown. */
  commandCharsMax: 1_048_576,
  /** Names in a status line; further names are only counted. */
  statusNamesMax: 64,
  /** Characters of each name in a status line. */
  statusNameCharsMax: 64,
} as const;
