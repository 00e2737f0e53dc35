/** Limits of the views of the log. Each has a test at its edge. */
export const viewLimits = {
  /** Rows of a page of the list of all sessions, unless the query says otherwise. */
  fleetSessionsPage: 50,
  /** Words of a search; further ones are ignored. */
  fleetSessionsWordsMax: 10,
  /** How long changes of rows are collected before they are emitted; and the number of rows in one event. */
  sessionChangesMs: 500,
  changedRowsMax: 200,
  /** Rows that are remembered to detect changes. The oldest are forgotten and then emitted once more. */
  knownRowsMax: 10_000,
  /** The period of costs unless the query says otherwise, and the longest one. */
  costsPeriodMs: 30 * 24 * 60 * 60 * 1_000,
  costsPeriodMsMax: 366 * 24 * 60 * 60 * 1_000,
  /** Combinations of day, agent and model in one response. */
  costGroupsMax: 10_000,
  /** Rows of the most expensive sessions, and of the sessions in each state of their budget. */
  costSessionsMax: 50,
  /** Values of a facet. */
  facetValuesMax: 100,
  /** URLs that appeared in a session, remembered for agents that may only fetch those. The oldest are forgotten. */
  shownUrlsMax: 10_000,
  /** Bytes in one batch of events for a reader of a fleet stream. A single event may be larger. */
  fleetBatchBytesMax: 64 * 1024,
  /** Text events of consecutive frames that are encoded and sent in one piece, in characters. A single event may be longer. */
  fleetBlockCharsMax: 16 * 1024,
  /** Bytes of newest events that readers of one session with the same options share; a reader further behind reads the log. */
  fleetChannelBytesMax: 1024 * 1024,
  /** The same limit for all sessions together. */
  fleetChannelsBytesMax: 64 * 1024 * 1024,
  /** Sessions that a stream of all of them follows at the same time; more wait until one of them has no new events. */
  fleetWatchedSessionsMax: 4_096,
  /** Sessions whose past events one such stream reads at the same time: sending is serial. */
  fleetCatchUpMax: 8,
  /** Concurrent steps of reading past events, of all such streams; workspaces take turns. */
  fleetStepsMax: 4,
  /** Sessions that such a stream sends first, before it has found all of them. */
  fleetFirstSessions: 32,
  /** Sessions that such a stream remembers, beside open ones and those that received an event within the last 30 s. */
  fleetKnownSessionsMax: 2_000,
  /** Sessions named in the cursor of such a stream: a request must have room for two such cursors. */
  fleetTokenSessionsMax: 256,
  /** How often such a stream sends its cursor: after this time, or this number of bytes. */
  fleetCheckpointMs: 100,
  fleetCheckpointBytes: 8 * 1024,
  /** How often such a stream looks for sessions whose signal was lost. */
  fleetLookMs: 2_000,
  /** The largest expected difference between clocks, and between the decision of a frame and its commit. */
  fleetMarginMs: 30_000,
  /** Bytes of written files that one run emits to its readers. */
  runFilesBytesMax: 4 * 1024 * 1024,
  /** Changed files that one event names. The count in the event is exact. */
  workspaceFilesMax: 20,
  /** Paths that the event of a rewind names. The count in the event is exact. */
  rewoundFilesMax: 100,
  /** Frames per step of a backward read of a log. */
  backwardFramesMax: 1_000,
  /** Bytes per step of such a read. A single frame may be larger. */
  backwardBytesMax: 4 * 1024 * 1024,
} as const;
