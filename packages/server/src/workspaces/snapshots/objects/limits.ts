/** Numbers that bound snapshots. Each has a test at its edge. */
export const snapshotLimits = {
  /** A larger file is not recorded, unless the operator sets another limit, which has a limit itself: files are held in memory. */
  fileBytesMax: 10 * 1024 * 1024,
  fileBytesAtMost: 100 * 1024 * 1024,
  /** Content that one record stores. Files beyond that are not recorded. */
  recordBytesMax: 1024 * 1024 * 1024,
  /** Paths that one record looks at. A directory with more fails the record, and that is logged. */
  recordPathsMax: 500_000,
  /** Up to so many new objects are written one by one, more as a pack. */
  looseObjectsMax: 64,
  /** Content that is held in memory before it is written. */
  batchBytesMax: 32 * 1024 * 1024,
  /** Single objects of a repository before they are packed. */
  looseObjectsBeforePacking: 2_000,
  /** Changed files that a frame names. Their count is exact. */
  frameFilesMax: 200,
  /** Files that were not recorded that a frame names. */
  frameNotRecordedMax: 50,
  /** Changed files of its own worktree that a thread reports. */
  unmergedFilesMax: 50,
  /** Files of a conflict that are described to an agent, and characters of their conflicting lines. */
  describedConflictsMax: 20,
  conflictCharsMax: 20_000,
  /** Processor time to count the lines of all files. Where it does not suffice, those of larger files are not counted. */
  countCpuSeconds: 2,
  countedFileBytesMax: 1024 * 1024,
  /** Private memory, processor time and time of a process that compares files. */
  diffDataBytesMax: 512 * 1024 * 1024,
  diffCpuSeconds: 10,
  diffMs: 20_000,
  /** A file in more directories than this is not recorded. */
  pathDepthMax: 200,
  /** Bytes of the diff of one file. */
  diffBytesMax: 8 * 1024 * 1024,
  /** A larger `.gitignore` has no effect. */
  ignoreFileBytesMax: 1024 * 1024,
  /** Ignored files of which one turn sees whether they have changed. Of others it sees only that they are new. */
  ignoredStampsMax: 1_000,
  /** Packs of the backup of a session before it is stored as a whole again, and bytes of one of them. */
  backupPacksMax: 50,
  backupBytesMax: 512 * 1024 * 1024,
  /** Nested repositories that one record looks into. */
  nestedRepositoriesMax: 200,
} as const;
