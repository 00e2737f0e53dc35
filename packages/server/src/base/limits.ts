/** Every number that bounds the server. Each has a test at its edge. */
export const limits = {
  /** Longest message of an error. What a caller sent may be part of it, and that has any length. */
  errorMessageCharsMax: 1_000,
  /** Latest time that an id can hold: ten characters of five bits. It is in the year 37658. */
  idTimeMsMax: 2 ** 50 - 1,

  // The store and the log.
  /** One frame. What is sent in one request has to fit with our own words around it, and a request has 32 MiB. */
  frameBytesMax: 34 * 1024 * 1024,
  /** Items of one page of a list. */
  pageItemsMax: 1_000,
  /** Input that a session has not taken up. */
  pendingInputsMax: 1_000,
  /** A segment grows by small appends up to here. Two of them fill a page of the disk, which is written as a whole. */
  segmentGrowBytesMax: 2_000,
  /** A segment made at once. A single frame may be larger. */
  segmentBytesMax: 256 * 1024,
  /** Appends that wait for their commit, of all sessions. */
  logQueueBytesMax: 64 * 1024 * 1024,
  /** One commit: larger ones would keep the others waiting for long. */
  logCommitBytesMax: 4 * 1024 * 1024,
  /** What a reader is given at a time. A single frame may be larger. */
  logBatchBytesMax: 256 * 1024,
  logBatchEntriesMax: 4_096,
  /** The newest frames of one session that its readers share; who is further behind reads the store. */
  feedBytesMax: 256 * 1024,
  /** The same of all sessions together. */
  feedsBytesMax: 64 * 1024 * 1024,
  /** How often to look for frames of other processes of which no signal came. */
  logPollMs: 1_000,
  /** How long a piece of text waits for the next one, to become one frame with it. */
  deltaWindowMs: 5,
  /** A piece of text of this length does not wait. */
  deltaCharsMax: 16 * 1024,
} as const;
