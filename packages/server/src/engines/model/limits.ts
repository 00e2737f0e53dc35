/** Numbers that bound model engines. Each has a test at its edge. */
export const modelLimits = {
  /** Characters of one response: text, thinking and inputs of calls. The largest models return at most a tenth of it. */
  engineAnswerCharsMax: 8_000_000,
  /** Bytes of one event of a streamed response. */
  engineEventBytesMax: 4 * 1024 * 1024,
  /** Bytes of a response, decompressed: the events have ten times as many bytes as their text. */
  engineAnswerBytesMax: 64 * 1024 * 1024,
  /** Content blocks of one response. */
  engineBlocksMax: 1_000,
  /** JSON values of one event, and of all tool inputs of a response: parsing more would block the event loop. */
  engineValuesMax: 100_000,
  /** How long a response may take. Pings count as activity, so it could otherwise last forever. */
  engineAnswerMs: 3_600_000,
  /** Bytes of an error response that are read, and how long to wait for them. */
  engineErrorBytesMax: 64 * 1024,
  engineErrorMs: 10_000,
  /** How long an endpoint may take to begin a response. The timeout of Node is five minutes. */
  engineFirstByteMs: 240_000,
  /** How long a response may be silent. Endpoints send a ping every few seconds. */
  engineSilenceMs: 240_000,
  /** Longest `retry-after` that is passed on: a day. */
  engineRetryAfterMsMax: 86_400_000,
  /** How full a context window may be before its history is summarised. */
  compactionFillPercent: 80,
  /** How much of the window a task may use to be kept verbatim when its history is summarised. */
  compactionTaskPercent: 10,
  /** Characters kept of each long result when a history must fit into the window to be summarised. */
  compactionResultCharsMax: 2_000,
  /** Requests in progress at one endpoint. The governor lowers the limit when the endpoint rejects requests. */
  governorConcurrencyMax: 32,
  /** Requests that wait for their turn at one endpoint. */
  governorQueueMax: 1_000,
  /** Longest pause of an endpoint, whatever it asks for. */
  governorPauseMsMax: 600_000,
} as const;
