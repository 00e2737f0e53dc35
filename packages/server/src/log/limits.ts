/** Numbers that bound the log: commits, batches, feeds, checkpoints. Each has a test at its edge. */
export const logLimits = {
  /** Appends that wait for their commit, of all sessions. */
  logQueueBytesMax: 64 * 1024 * 1024,
  /** A commit from this size on has a turn of the event loop to itself: what it writes was serialised in the turn before. */
  logCommitAloneBytes: 512 * 1024,
  /** Entries that are folded at a time: with what is made of them, that takes one or two milliseconds. */
  sliceEntriesMax: 256,
  /** Entries that paced background work reads at a time. */
  pacedEntriesMax: 64,
  /** The newest frames of one session that its readers share; a reader that is further behind reads the store. */
  feedBytesMax: 256 * 1024,
  /** The same of all sessions together. */
  feedsBytesMax: 64 * 1024 * 1024,
  /** How often to look for frames of other processes of which no signal came. */
  logPollMs: 1_000,
  /** Frames behind the newest checkpoint of a fold, or the start of its run, before another checkpoint is written. */
  checkpointFrames: 4_096,
  /** Sessions of which it is known how many frames lie behind their newest checkpoint. */
  checkpointSessionsMax: 10_000,
  /** How long a piece of text waits for the next one, to become one frame with it. */
  deltaWindowMs: 5,
  /** A piece of text of this length does not wait. */
  deltaCharsMax: 16 * 1024,
} as const;
