/** Numbers that bound model engines. Each has a test at its edge. */
export const modelLimits = {
  /** Characters of one response: text, thinking and inputs of calls. The largest models return at most a tenth of it. */
  engineAnswerCharsMax: 8_000_000,
  /** One event of a streamed response. */
  engineEventBytesMax: 4 * 1024 * 1024,
  /** All bytes of an answer, unpacked: the events have ten times as many as the text in them. */
  engineAnswerBytesMax: 64 * 1024 * 1024,
  /** Content blocks of one answer. */
  engineBlocksMax: 1_000,
  /** JSON values of one event, and of all tool inputs of an answer: parsing more would hold the event loop. */
  engineValuesMax: 100_000,
  /** How long an answer may take. Pings are signs of life, so one could go on without end. */
  engineAnswerMs: 3_600_000,
  /** The beginning of an answer that is an error, and how long it is waited for. */
  engineErrorBytesMax: 64 * 1024,
  engineErrorMs: 10_000,
  /** How long an endpoint may take to begin an answer. Node's own patience ends after five minutes. */
  engineFirstByteMs: 240_000,
  /** How long an answer may be silent. Endpoints send a sign of life every few seconds. */
  engineSilenceMs: 240_000,
  /** Longest `retry-after` that is passed on: a day. */
  engineRetryAfterMsMax: 86_400_000,
  /** How full a context window may be before its history is summed up. */
  compactionFillPercent: 80,
  /** How much of the window a task may take to stay word for word when its history is summed up. */
  compactionTaskPercent: 10,
  /** Characters kept of each long result when a history must fit into the window to be summarised. */
  compactionResultCharsMax: 2_000,
  /** Requests under way at one endpoint. The governor goes below it when the endpoint complains. */
  governorConcurrencyMax: 32,
  /** Requests that wait for their turn at one endpoint. */
  governorQueueMax: 1_000,
  /** Longest pause of an endpoint, whatever it asks for. */
  governorPauseMsMax: 600_000,
} as const;
