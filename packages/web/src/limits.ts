/** Every number that bounds the dashboard. Each has a test at its edge. */
export const limits = {
  // The connection.
  /** How long the hub collects events before it hands them to the tabs. */
  hubBatchMs: 33,
  /** Logs of sessions that are read at the same time. */
  logReadsMax: 4,
  /** How often the load of the server is asked for at most, and what it knows of a session with a stalled thread. */
  loadMs: 2_000,
  healthMs: 5_000,

  // The model.
  /** How long a model may be silent before its thread counts as stalled. */
  stalledMs: 60_000,
  /** Pieces of one lane; the oldest go first. */
  segmentsMax: 4_000,
  /** Seconds of activity that a thread remembers. */
  pulsesMax: 3_600,
  /** What is kept of an agent's thoughts: characters of one request, and requests of one thread. */
  thoughtCharsMax: 16_384,
  thoughtsMax: 100,
  /** Paths that are watched for two threads writing the same. */
  writtenPathsMax: 2_000,
  /** How close two writes of one file are a conflict. */
  conflictMs: 5 * 60_000,
  /** Marks on a lane and on the scrubber. */
  marksMax: 1_000,
  /** Of one thread: requests, calls and failures whose times are known, for the totals of a time. */
  timesMax: 4_000,
  /** Inputs of custom tools that are kept whole until somebody answers. */
  customInputsMax: 200,
  /** Text of a turn that a slot keeps. */
  textCharsMax: 16_384,
  /** Finished sessions whose log is read without being asked for. */
  recentSessionsMax: 4,
  /** Replay: other sessions of the same time that are shown beside the one that is replayed. */
  replaySessionsMax: 8,
  /** Replay: how many events lie between two remembered states. */
  keyframeEvents: 512,

  // What is drawn.
  /** How often rows are drawn again at most, and the header. */
  rowsMs: 100,
  headerMs: 500,
  lanesMs: 33,
  /** How long the order by attention waits before it moves a row. */
  reorderMs: 3_000,
  /** How long a decision can be taken back before it is sent. */
  undoMs: 1_500,
  /** What is shown of a text or input before "show all", and the size of the pieces behind it. */
  shownCharsMax: 8_000,
  pieceCharsMax: 16_000,
  /** The longest text that is read as Markdown; longer ones are shown as they are. */
  markdownCharsMax: 200_000,
  /** Lines of the log that the inspector shows of one block, and pieces of how it streamed. */
  rawLinesMax: 100,
  deltasMax: 500,
  /** Requests of two threads that are compared on one page. */
  comparedRequestsMax: 500,
  /** What a search through a session shows. */
  hitsMax: 200,
  /** Characters of a transcript that is written as a page; the log as lines has no end. */
  exportCharsMax: 20_000_000,
  /** How often what needs somebody is said aloud. */
  announceMs: 5_000,
} as const;
