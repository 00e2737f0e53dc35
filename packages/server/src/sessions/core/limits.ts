/** Numbers that bound sessions. Each has a test at its edge. */
export const sessionLimits = {
  /** Events of one request to a session, as JSON, that are committed in the turn of the event loop in which they arrive. */
  sendAtOnceBytesMax: 64 * 1024,
  /** Bytes of frames, without deltas, after which a checkpoint of the state is written. */
  stateCheckpointBytes: 256 * 1024,
  /** Characters of a title, and of a first message, that searches look at. */
  searchCharsMax: 500,
  /** Characters of the reason of a session's state. */
  reasonCharsMax: 200,
  /** Title of a session. */
  titleCharsMax: 512,
  /** Threads of one session that are not terminated, the primary one not counted. */
  liveChildrenMax: 25,
  /** The same where every delegation is a thread of its own: running ones. Sixteen with sixteen children each. */
  busyChildrenMax: 272,
  /** What one model response, tool result, summary or request of a client brings into a session, as JSON: almost a whole body. */
  contentBytesMax: 30 * 1024 * 1024,
  /**
   * Content of all threads of a session together: histories, inboxes and open calls, which are in memory while the session is
   * open. At most a share of the heap, so that the largest session can be opened.
   */
  sessionBytesMax: 128 * 1024 * 1024,
  sessionHeapShare: 1 / 12,
  /**
   * The content of all open sessions together, as a share of the heap, and what each byte takes there: the content itself, and
   * the model request that it is copied into.
   */
  openHeapShare: 1 / 2,
  openHeapFactor: 4,
  /** Sessions up to `unmeasuredBytes` are opened at once; those up to `smallBytes` do not wait for larger ones, which get a part. */
  unmeasuredBytes: 16 * 1024,
  smallSessionBytes: 1024 * 1024,
  largeSessionsShare: 3 / 4,
  /** Bytes of a log that a fork copies, without deltas: it is one write. */
  forkBytesMax: 64 * 1024 * 1024,
  /** Tasks of one call of `delegate`. */
  delegateTasksMax: 16,
  /** Tasks of the text commands of one model response; further commands are refused. */
  textCommandTasksMax: 300,
  /** Model responses of one turn in which quoted commands are reported to the model; in later ones they are only text. */
  quotedReportsMax: 3,
  /** Text commands that a thread may read in content it did not write. With one more, all its own are refused. */
  seenCommandsMax: 1_000,
  /** Letters of each that are compared, how far the text is searched, and how far back a name may begin. */
  seenCommandLetters: 256,
  seenCommandWindowChars: 1_024,
  seenCommandTailChars: 64,
  /** Model requests of one turn: an agent that has not ended by then is in a loop. */
  turnRequestsMax: 500,
  /** Compactions in a row before the turn fails. */
  turnCompactionsMax: 2,
  /** The first wait before a retry; it doubles each time, up to the maximum. */
  retryDelayMs: 500,
  retryDelayMsMax: 30_000,
  /** Deltas of one model request that wait for the disk, before its engine waits too. */
  pendingDeltasMax: 256,
  /** Inputs that are applied at a time. */
  inputsTakenMax: 100,
  /** How long a lease lasts without renewal. */
  leaseMs: 15_000,
  /** How often sessions without an owner are adopted. Leases are renewed after a third of `leaseMs`. */
  hostTickMs: 2_000,
  /** A session that is idle for this long is released; its log stays. */
  hostIdleMs: 60_000,
  /**
   * Programs that are kept although their session has been idle for `hostIdleMs`, because an approval is open or something
   * runs in the background. Each takes about 200 MB of memory. With one more, the one that was idle longest is ended.
   */
  idleProgramsMax: 50,
  /** Sessions without an owner that are adopted at a time. */
  orphansTakenMax: 100,
  /** How often a merge is computed again because files have changed in the meantime. */
  mergeAttemptsMax: 3,
  /** How long a run can be found by its id. */
  runKeyMs: 90 * 24 * 60 * 60 * 1_000,
  /** How often expired deltas are removed. */
  retentionMs: 60 * 60_000,
  /** `leaseMs` and `hostTickMs` where several nodes share the store: a dead node is replaced within seconds. */
  sharedLeaseMs: 5_000,
  sharedTickMs: 1_000,
  /** In how many ticks programs that another process left open are looked for once. */
  sharedPollTicks: 10,
  /** Sessions without an owner that are listed there: each node adopts its share, at most `orphansTakenMax`. */
  sharedOrphansMax: 5_000,
  /** How long a session whose workspace is on another node is skipped. */
  elsewhereMs: 5_000,
  /** Running sessions of one node; further ones wait until a node has room. */
  busySessionsMax: 2_000,
  /** How long a forwarded command waits for the owner: longer than the lease of a dead node lasts. */
  ownerWaitMs: 10_000,
  /** How much longer the sender of a forwarded command waits: clocks count whole milliseconds, and timers may end early. */
  forwardMarginMs: 20,
  /** How often the outcome is polled: the first delay and the longest. */
  ownerLookMs: 5,
  ownerLookMsMax: 200,
  /** How long the outcome of a forwarded command is kept. */
  commandOutcomeMs: 10 * 60_000,
  /** How long running tools may continue when their process stops. */
  handOverToolsMs: 5_000,
  /** How long the lease of an imported session lasts without a request of its client. */
  importLeaseMs: 60_000,
  /** Imported sessions whose health the server keeps. */
  importsFollowedMax: 1_000,
  /** Frames of one write of an import, and the bytes of its steps. A single line may have more. */
  importFramesMax: 1_000,
  importFlushBytes: 1024 * 1024,
  /** How long the imported lines are remembered: ten years. */
  importKeyMs: 10 * 365 * 24 * 60 * 60 * 1_000,
  /** Writes of a program's session that wait for the disk before its events wait too. */
  programWritesMax: 2,
  /** How long a program may take to stop after an interrupt. */
  programStopMs: 15_000,
} as const;
