/** Numbers that bound the nodes that share a store. Each has a test at its edge. */
export const nodeLimits = {
  /** The interval of heartbeats, and how long a node counts as alive after its last one. */
  nodeBeatMs: 2_000,
  nodeAliveMs: 8_000,
  /** A start with the id of another process: how long its last heartbeat must be ago (as long as a lease), and how often to look. */
  nodeClaimMs: 5_000,
  nodeClaimPollMs: 200,
  /** How long a stopped node is remembered. */
  nodeForgottenMs: 24 * 60 * 60_000,
  /** How long a node may be gone before the workspaces on its disk count as lost: long enough for a restart. */
  homeGoneMs: 60_000,
  /** Sessions whose location a node remembers as recorded. */
  locationsKnownMax: 100_000,
  /** How often a node polls for requests of other nodes, and how long the asking node waits. */
  nodeMessagePollMs: 200,
  nodeMessageWaitMs: 30_000,
  /** How long one waits for what a session does at this moment: later it is not true any more. */
  healthWaitMs: 3_000,
  /** How long the node that owns a session is waited for when its program is asked for something. */
  controlWaitMs: 25_000,
  /** Requests of other nodes that are answered at a time. */
  nodeMessagesMax: 20,
} as const;
