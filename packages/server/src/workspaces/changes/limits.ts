/** Numbers that bound the display and application of changes. Each has a test at its edge. */
export const changesLimits = {
  /** Changed files that one response lists. Counts are exact. */
  filesMax: 2_000,
  /** Recorded changes that one response lists for each file. */
  touchesMax: 20,
  /** Unrecorded files, and earlier applications, that one response lists. */
  notRecordedMax: 200,
  appliedMax: 100,
  /** Conflicts that an error lists. */
  conflictsMax: 200,
  /** Threads with worktrees of their own that one response lists. */
  worktreesMax: 200,
  /** Characters of the diff of one file. */
  diffCharsMax: 1024 * 1024,
  /** Diffs of one page, their characters, and the bytes of output when all are read at once. */
  diffsMax: 1_000,
  diffsCharsMax: 8 * 1024 * 1024,
  diffsBytesMax: 32 * 1024 * 1024,
  /** Unchanged lines around each change of a diff. */
  contextLinesMax: 1_000,
  /** Recorded steps of one page, and the files that each step names. */
  stepsMax: 1_000,
  stepFilesMax: 20,
  /** Entries of one page of a tree. */
  treeEntriesMax: 5_000,
  treeEntriesDefault: 1_000,
  /** Characters of `path` in a request, and number of `paths` in an application. */
  pathCharsMax: 4_096,
  pathsMax: 2_000,
  branchCharsMax: 255,
  messageCharsMax: 20_000,
  /** Agents that a commit names as co-authors. */
  coAuthorsMax: 50,
  /** Bytes of the pack that is sent to the user's repository for one commit. */
  packBytesMax: 512 * 1024 * 1024,
  /** How often an application is attempted if the user's files change while changes are merged. */
  attemptsMax: 5,
  /** Sessions whose history is kept in memory, and the frames of all of them. */
  historiesMax: 20,
  historyFramesMax: 20_000,
} as const;
