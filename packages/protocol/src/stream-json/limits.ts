/**
 * Every number that bounds the stream-json library. Each has a test at its edge.
 *
 * A limit never loses content silently: a line over `lineBytesMax` becomes an `oversize` value, and what the translator
 * forgets is only the memory with which it recognises repetitions.
 */
export const limits = {
  /** Longest line that is parsed. A longer one is reported as `oversize` and reading goes on at the next LF. */
  lineBytesMax: 64 * 1024 * 1024,
  /** Characters of a bad line that are shown in its report. */
  excerptCharsMax: 120,
  /** How many lines of an agent back a repeated line (same `uuid`) or snapshot is still recognised. */
  memoryLinesPerThread: 10_000,
  /** Upper bound of remembered blocks per agent, whatever the lines look like. */
  memoryBlocksPerThread: 65_536,
  /** Messages per agent whose blocks keep their content; older ones keep a mark of it, or only their number. */
  wholeMessagesPerThread: 8,
  /** Agents that ended whose memory is kept for late lines. */
  endedThreadsMax: 25,
  /** Agents that are known at all; past it the longest ended are forgotten. */
  threadsMax: 10_000,
  /** Lines that can still be taken back by their uuid. */
  retractableLinesMax: 1_000,
  /** Tool calls whose caller is remembered. */
  callOwnersMax: 10_000,
  /** Open streams that are compared where a stream carries no message ids. */
  anonymousStreamsMax: 512,
  /** Permission requests that are remembered as open. */
  openRequestsMax: 1_000,
  /** Distinct unknown kinds that are counted by name; further ones are counted together as `other`. */
  driftKindsMax: 200,
  /** What a snapshot carries of the above, so that 25 live agents stay under 64 KB. */
  snapshotMessagesPerThread: 4,
  snapshotLinesPerThread: 32,
  snapshotCallOwners: 200,
  snapshotRetractableLines: 64,
  snapshotThreads: 500,
  snapshotAnonymousStreams: 128,
} as const;
