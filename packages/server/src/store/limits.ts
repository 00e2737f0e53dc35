/** Numbers that bound the store: pages, segments, connections, erasing. Each has a test at its edge. */
export const storeLimits = {
  /** One frame. Older versions accepted messages of 32 MiB, which may still wait to be taken up. */
  frameBytesMax: 34 * 1024 * 1024,
  /** Items of one page of a list, as JSON. A single item may be larger, and is a page of its own. */
  pageBytesMax: 4 * 1024 * 1024,
  /** Items of one page of a list. */
  pageItemsMax: 1_000,
  /** Input that a session has not taken up. */
  pendingInputsMax: 1_000,
  /** A segment grows by small appends up to here. Two of them fill a page of the disk, which is written as a whole. */
  segmentGrowBytesMax: 2_000,
  /** A segment made at once. A single frame may be larger. */
  segmentBytesMax: 256 * 1024,
  /** Segments of which it is remembered whether they hold more than deltas. */
  segmentKindsMax: 10_000,
  /** One commit: larger ones would keep the others waiting for long. */
  logCommitBytesMax: 4 * 1024 * 1024,
  /** What a reader is given at a time. A single frame may be larger. */
  logBatchBytesMax: 256 * 1024,
  logBatchEntriesMax: 4_096,
  /** What one transaction of the embedded database removes or moves of a log: it holds the event loop for as long as it takes. */
  storeSliceBytesMax: 1024 * 1024,
  /** Rows that one transaction or statement of the embedded database looks at for a list without a limit. */
  storeSliceRowsMax: 200,
  /** A part of a file that is kept in the store: what is in memory of it while it is written or read. */
  blobPartBytes: 512 * 1024,
  /** What is removed of a deleted session at a time in SQLite. A single row may be larger. */
  eraseRowsMax: 256,
  eraseBytesMax: 1024 * 1024,
  /** How long one step of overwriting unused parts of pages may take, and how long others may work between two steps. */
  eraseStepMs: 15,
  erasePauseMs: 5,
  /** How long deletes are waited for that can share the overwriting. */
  eraseDelayMs: 100,
  /** When a deletion that failed is tried again. */
  eraseRetryMs: 10_000,
  /** Small rows of one session's log in PostgreSQL before they are put together. */
  segmentTailRowsMax: 64,
  /** Connections of one process to PostgreSQL for what is read and for records; commits and signals have three more. */
  databaseConnectionsMax: 8,
  /** How long a connection may take, and how long a query waits for one that is free. */
  databaseConnectMs: 10_000,
  /** How long one statement may run, wait for a lock, and a transaction do nothing. */
  databaseStatementMs: 30_000,
  databaseLockMs: 10_000,
  databaseIdleMs: 5_000,
  /** How long calls wait for a database that is away: longer than a restart takes. Leases (5 s) may expire in the meantime. */
  databasePatienceMs: 10_000,
  /** The first wait before another attempt; it doubles each time, up to the longest. */
  databaseRetryMs: 20,
  databaseRetryMsMax: 2_000,
  /** How often a transaction is repeated because others came first. */
  databaseConflictsMax: 20,
  /** How often to make sure that signals still come. */
  databaseListenCheckMs: 15_000,
  /** At a start: how long a notification of the process to itself is waited for, and how many are sent. */
  databaseProbeMs: 1_000,
  databaseProbesMax: 4,
  /** One signal. PostgreSQL takes less than 8000 bytes. */
  databaseSignalBytesMax: 7_900,
  /** Sessions that are signalled at once when signals were lost; the others are found by the next poll. */
  databaseCatchUpMax: 10_000,
  /** How often expired rows are removed. */
  databaseSweepMs: 60 * 60_000,
  /** How long what a dead process has left, half a file for one, is kept. */
  databaseAbandonedMs: 24 * 60 * 60_000,
  /** Items of one page of agents, versions or environments; and how many there are if nothing is asked for. */
  recordPageItemsMax: 100,
  inputsTakenBytesMax: 1024 * 1024,
  /** Sessions that are listed at a time for it. */
  retentionPageItems: 100,
  /** One checkpoint. A fold that is larger has none, and is made from the log. */
  checkpointBytesMax: 8 * 1024 * 1024,
} as const;
