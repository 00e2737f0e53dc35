/** Numbers that bound snapshots. Each has a test at its edge. */
export const snapshotLimits = {
  /** Bytes of a recorded file, by default and the most that an operator may set: files are held in memory. */
  fileBytesMax: 10 * 1024 * 1024,
  fileBytesAtMost: 100 * 1024 * 1024,
  /** Bytes of content that one record stores. Further files are not recorded. */
  recordBytesMax: 1024 * 1024 * 1024,
  /** Paths that one record examines. With more paths the record fails, which is logged. */
  recordPathsMax: 500_000,
  /** New objects that are written as single files. More objects are written as a pack. */
  looseObjectsMax: 64,
  /** Bytes of content that are held in memory before they are written. */
  batchBytesMax: 32 * 1024 * 1024,
  /** Single objects of a repository before they are packed. */
  looseObjectsBeforePacking: 2_000,
  /** Changed files that a frame names. The count in the frame is exact. */
  frameFilesMax: 200,
  /** Files that were not recorded that a frame names. */
  frameNotRecordedMax: 50,
  /** Unmerged files that a thread with a worktree of its own reports. */
  unmergedFilesMax: 50,
  /** Files of a conflict that are described to an agent, and characters of their conflicting lines. */
  describedConflictsMax: 20,
  conflictCharsMax: 20_000,
  /** Processor time to count the lines of all files. If it does not suffice, lines of larger files are not counted. */
  countCpuSeconds: 2,
  countedFileBytesMax: 1024 * 1024,
  /** Bytes of private memory, processor time and time of a process that compares files. */
  diffDataBytesMax: 512 * 1024 * 1024,
  diffCpuSeconds: 10,
  diffMs: 20_000,
  /** Parent directories of a file. A file with more is not recorded. */
  pathDepthMax: 200,
  /** Bytes of the diff of one file. */
  diffBytesMax: 8 * 1024 * 1024,
  /** Bytes of a `.gitignore`. A larger one has no effect. */
  ignoreFileBytesMax: 1024 * 1024,
  /** Ignored files whose changes are detected in each turn. Of further ignored files only new ones are detected. */
  ignoredStampsMax: 1_000,
  /** Packs of a session's backup before it is stored as a whole again, and bytes of one pack. */
  backupPacksMax: 50,
  backupBytesMax: 512 * 1024 * 1024,
  /** Nested repositories that one record lists. */
  nestedRepositoriesMax: 200,
} as const;
