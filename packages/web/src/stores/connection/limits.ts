/** Numbers that bound requests and batches of the connection. Each has a test at its edge. */
export const connectionLimits = {
  /** How long the hub collects events before it sends them to the tabs. */
  hubBatchMs: 33,
  /** Logs that are loaded at the same time. */
  logReadsMax: 4,
  /** The least time between two requests for the server's load. */
  loadMs: 2_000,
  /** The least time between two requests for the health of a session. */
  healthMs: 5_000,
} as const;
