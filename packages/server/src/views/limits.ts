/** Numbers that bound views of the log. Each has a test at its edge. */
export const viewLimits = {
  /** Rows of a page of the list of all sessions, unless the query says otherwise. */
  fleetSessionsPage: 50,
  /** Words of a search; further ones are ignored. */
  fleetSessionsWordsMax: 10,
  /** How long changes of rows are collected before they are emitted, and how many rows one event has. */
  sessionChangesMs: 500,
  changedRowsMax: 200,
  /** Rows that are remembered to recognise changes. The oldest are forgotten, and are emitted once more. */
  knownRowsMax: 10_000,
  /** The period of costs unless the query says otherwise, and the longest one. */
  costsPeriodMs: 30 * 24 * 60 * 60 * 1_000,
  costsPeriodMsMax: 366 * 24 * 60 * 60 * 1_000,
  /** Combinations of day, agent and model in one response. */
  costGroupsMax: 10_000,
  /** Sessions that cost most, and sessions with a budget of each state. */
  costSessionsMax: 50,
  /** Values of a facet. */
  facetValuesMax: 100,
  /** Addresses that a session was shown, remembered for agents that may fetch only such. The oldest are forgotten. */
  shownUrlsMax: 10_000,
  /** What a reader of a fleet stream is given at a time. A single event may be larger. */
  fleetBatchBytesMax: 64 * 1024,
  /** Text events of consecutive frames that are encoded and sent in one piece, in characters. A single event may be longer. */
  fleetBlockCharsMax: 16 * 1024,
  /** The newest events that readers of one session with the same options share; a reader that is further behind reads the log. */
  fleetChannelBytesMax: 1024 * 1024,
  /** The same of all sessions together. */
  fleetChannelsBytesMax: 64 * 1024 * 1024,
  /** Sessions that a stream of all of them follows at the same time; more wait until one of them has no new events. */
  fleetWatchedSessionsMax: 4_096,
  /** Sessions whose past events one such stream reads at the same time: sending is serial. */
  fleetCatchUpMax: 8,
  /** Steps of reading past events of all such streams at the same time; workspaces take turns. */
  fleetStepsMax: 4,
  /** Sessions that such a stream begins with, before it has found all. */
  fleetFirstSessions: 32,
  /** Sessions that such a stream remembers, beside open ones and those that received an event within the last 30 s. */
  fleetKnownSessionsMax: 2_000,
  /** Sessions that the id of such a stream names: a request has to have room for it twice. */
  fleetTokenSessionsMax: 256,
  /** How often such a stream says where its reader is: after so long, or so much. */
  fleetCheckpointMs: 100,
  fleetCheckpointBytes: 8 * 1024,
  /** How often it looks for sessions of which no signal came. */
  fleetLookMs: 2_000,
  /** How far clocks, and what was decided and what was written, may be apart. */
  fleetMarginMs: 30_000,
  /** Files that agents write, as far as one run shows them to its readers. */
  runFilesBytesMax: 4 * 1024 * 1024,
  /** Changed files that an event of a fleet stream names. Their count is exact. */
  workspaceFilesMax: 20,
  /** Paths in the event of a rewind; of more files it has the number. */
  rewoundFilesMax: 100,
  /** Frames that are read at a time on the way back through a log. */
  backwardFramesMax: 1_000,
  /** What such a read holds at a time. A single frame may be larger. */
  backwardBytesMax: 4 * 1024 * 1024,
} as const;
