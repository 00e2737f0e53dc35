/** Numbers that bound what the model keeps of sessions and threads. Each has a test at its edge. */
export const limits = {
  /** Segments of one lane; the oldest are dropped first. */
  segmentsMax: 4_000,
  /** Seconds of activity that a thread keeps. */
  pulsesMax: 3_600,
  /** Characters of thinking that are kept for one model request. */
  thoughtCharsMax: 16_384,
  /** Model requests of one thread whose thinking is kept. */
  thoughtsMax: 100,
  /** Paths that are checked for writes by two threads. */
  writtenPathsMax: 2_000,
  /** Two writes to one file within this time are a conflict. */
  conflictMs: 5 * 60_000,
  /** Marks on a lane and on the scrubber. */
  marksMax: 1_000,
  /** Times of requests, of calls and of failures that are kept for one thread, each. */
  timesMax: 4_000,
  /** Inputs of custom tool calls that are kept whole until they are answered. */
  customInputsMax: 200,
  /** Characters of a turn's text that a slot keeps. */
  textCharsMax: 16_384,
  /** Recorded changes of a workspace; the oldest are dropped first. */
  workspaceStepsMax: 2_000,
  /** Events between two saved states of a replay. */
  keyframeEvents: 512,
} as const;
