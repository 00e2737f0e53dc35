/** Numbers that bound Web Push. Each has a test at its edge. */
export const pushLimits = {
  /** Devices of one workspace that receive push messages. */
  pushSubscriptionsMax: 50,
  /** Characters of the endpoint of a device at its push service. */
  pushEndpointCharsMax: 2_048,
  /** Pending sessions of one device. Of more, the newest are kept. */
  pushPendingSessionsMax: 200,
  /** Committed changes that wait to be assigned to devices. The next search finds further changes that still apply. */
  pushQueuedChangesMax: 10_000,
  /** How long changes are collected, so that many agents that request approvals at the same time cause one message. */
  pushGatherMs: 300,
  /** Devices that are sent messages at the same time. */
  pushAtOnceMax: 32,
  /** Devices of one workspace that are sent messages at the same time. */
  pushAtOncePerWorkspaceMax: 4,
  /** Such devices of all workspaces whose last delivery failed. The remaining slots are for workspaces whose push services respond. */
  pushFailingAtOnceMax: 16,
  /** How long a push service may take to respond. */
  pushAnswerMs: 10_000,
  /** The first wait after a failed delivery; it doubles each time, up to the longest. */
  pushRetryMs: 2_000,
  pushRetryMsMax: 10 * 60_000,
  /** Consecutive failed deliveries after which a message is dropped. */
  pushTriesMax: 12,
  /** How long a push service keeps a message for a device that is offline, in seconds. */
  pushTtlSeconds: 24 * 60 * 60,
  /** How long a signature for a push service is valid. RFC 8292 allows 24 hours. */
  pushSignatureMs: 12 * 60 * 60 * 1_000,
  /** How often to search for changes and messages that were not sent because of a crash, and for quiet hours that have ended. */
  pushLookMs: 15_000,
  /** A session that changed this recently is left to the node that runs it. */
  pushMarginMs: 10_000,
  /** How long the claim of a node on the message of a device lasts. */
  pushClaimMs: 60_000,
  /** Sessions that one search reads in one workspace, the last changed ones first. */
  pushLookSessionsMax: 200,
  /** How far back a message counts failed sessions. */
  pushFailedMs: 24 * 60 * 60 * 1_000,
  /** Sessions that are named in a message, where it may contain their names. */
  pushNamedSessionsMax: 3,
  /** Characters of the name and of the reason of each named session. A character may take six bytes in JSON, and a message has 3,993. */
  pushTextCharsMax: 80,
} as const;
