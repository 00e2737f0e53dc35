/** Limits of the log: commits, batches, feeds, checkpoints. Each has a test at its edge. */
export const logLimits = {
  /** Bytes of appends that wait for their commit, of all sessions. */
  logQueueBytesMax: 64 * 1024 * 1024,
  /** A commit of this size or more runs in its own turn of the event loop, after the turn that serialised it. */
  logCommitAloneBytes: 512 * 1024,
  /** Entries that are folded in one turn of the event loop: folding and encoding them takes 1–2 ms. */
  sliceEntriesMax: 256,
  /** Entries that paced background work reads in one step. */
  pacedEntriesMax: 64,
  /** The newest frames of one session that its readers share; a reader that is further behind reads the store. */
  feedBytesMax: 256 * 1024,
  /** The same limit for all sessions together. */
  feedsBytesMax: 64 * 1024 * 1024,
  /** How often the store is polled for frames of other processes whose signal was lost. */
  logPollMs: 1_000,
  /** Frames behind the newest checkpoint of a fold, or the start of its run, before another checkpoint is written. */
  checkpointFrames: 4_096,
  /** Sessions whose distance to their newest checkpoint is kept in memory. */
  checkpointSessionsMax: 10_000,
  /** How long a piece of text waits for further pieces that become part of the same frame. */
  deltaWindowMs: 5,
  /** Collected text of this length is written without waiting. */
  deltaCharsMax: 16 * 1024,
} as const;
