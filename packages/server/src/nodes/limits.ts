/** Numbers that bound the nodes that share a store. Each has a test at its edge. */
export const nodeLimits = {
  /** The interval of heartbeats, and how long a node counts as alive after its last one. */
  nodeBeatMs: 2_000,
  nodeAliveMs: 8_000,
  /** For a start with the id of another process: how long ago its last heartbeat must be (as long as a lease), and how often to check. */
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
  /** How long to wait for the health of a session on another node: a later response would be out of date. */
  healthWaitMs: 3_000,
  /** How long to wait for the owner node of a session to forward a control request to its program. */
  controlWaitMs: 25_000,
  /** Requests of other nodes that are handled at the same time. */
  nodeMessagesMax: 20,
} as const;
