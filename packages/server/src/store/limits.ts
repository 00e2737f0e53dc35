/** Limits of the store: pages, segments, connections, erasing. Each has a test at its edge. */
export const storeLimits = {
  /** One frame. Older versions accepted messages of 32 MiB, which may still be queued. */
  frameBytesMax: 34 * 1024 * 1024,
  /** Items of one page of a list, as JSON. A single item may be larger, and is a page of its own. */
  pageBytesMax: 4 * 1024 * 1024,
  /** Items of one page of a list. */
  pageItemsMax: 1_000,
  /** Inputs that a session has not processed. */
  pendingInputsMax: 1_000,
  /** A segment grows by small appends up to this size. Two segments fill a page of the disk, which is written as a whole. */
  segmentGrowBytesMax: 2_000,
  /** A segment that is written at once. A single frame may be larger. */
  segmentBytesMax: 256 * 1024,
  /** Segments for which it is cached whether they contain more than deltas. */
  segmentKindsMax: 10_000,
  /** One commit. A larger one would delay the others. */
  logCommitBytesMax: 4 * 1024 * 1024,
  /** One read of a log. A single frame may be larger. */
  logBatchBytesMax: 256 * 1024,
  logBatchEntriesMax: 4_096,
  /** Bytes of a log that one transaction of the embedded database removes or moves: it blocks the event loop. */
  storeSliceBytesMax: 1024 * 1024,
  /** Rows that one transaction or statement of the embedded database reads for a list without a limit. */
  storeSliceRowsMax: 200,
  /** A part of a file in the store: the bytes in memory while it is written or read. */
  blobPartBytes: 512 * 1024,
  /** Rows and bytes of a deleted session that SQLite removes in one step. A single row may be larger. */
  eraseRowsMax: 256,
  eraseBytesMax: 1024 * 1024,
  /** How long one step of overwriting unused parts of pages may take, and the pause between two steps. */
  eraseStepMs: 15,
  erasePauseMs: 5,
  /** How long to wait for further deletes that can share the overwriting. */
  eraseDelayMs: 100,
  /** When a deletion that failed is tried again. */
  eraseRetryMs: 10_000,
  /** Small rows of one session's log in PostgreSQL before they are merged. */
  segmentTailRowsMax: 64,
  /** Connections of one process to PostgreSQL for reads and records; commits and signals use three more. */
  databaseConnectionsMax: 8,
  /** How long connecting may take, and how long a query waits for a free connection. */
  databaseConnectMs: 10_000,
  /** How long one statement may run and wait for a lock, and how long a transaction may be idle. */
  databaseStatementMs: 30_000,
  databaseLockMs: 10_000,
  databaseIdleMs: 5_000,
  /** How long calls wait for an unreachable database: longer than a restart takes. Leases (5 s) may expire in the meantime. */
  databasePatienceMs: 10_000,
  /** The first and the longest wait before another attempt; the wait doubles each time. */
  databaseRetryMs: 20,
  databaseRetryMsMax: 2_000,
  /** How often a transaction is repeated after a conflict. */
  databaseConflictsMax: 20,
  /** How often to check that signals still arrive. */
  databaseListenCheckMs: 15_000,
  /** At the start: how long the process waits for its own test notification, and how many it sends. */
  databaseProbeMs: 1_000,
  databaseProbesMax: 4,
  /** One signal. PostgreSQL takes less than 8000 bytes. */
  databaseSignalBytesMax: 7_900,
  /** Sessions that are signalled at once after lost signals; the next poll finds the others. */
  databaseCatchUpMax: 10_000,
  /** How often expired rows are removed. */
  databaseSweepMs: 60 * 60_000,
  /** How long leftovers of a dead process are kept, such as an incomplete file. */
  databaseAbandonedMs: 24 * 60 * 60_000,
  /** Items of one page of agents, versions or environments: the maximum and the default. */
  recordPageItemsMax: 100,
  inputsTakenBytesMax: 1024 * 1024,
  /** Sessions that retention lists at a time. */
  retentionPageItems: 100,
  /** One checkpoint. A larger fold is not saved, and is made from the log. */
  checkpointBytesMax: 8 * 1024 * 1024,
} as const;
