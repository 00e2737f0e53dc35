/** Numbers that bound environments and their workers. Each has a test at its edge. */
export const environmentLimits = {
  /** How long a worker keeps an item without a heartbeat, unless it requests another time. */
  workLeaseMs: 90_000,
  /** How often an item is queued again because its worker left the session unfinished, with nothing new sent to it. */
  workRetriesMax: 3,
  /** How long a worker counts as polling after it has polled. */
  workerSeenMs: 30_000,
  /** Workers that are counted, of all environments. */
  workersSeenMax: 10_000,
} as const;
