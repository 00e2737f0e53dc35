/** Numbers that bound Web Push. Each has a test at its edge. */
export const pushLimits = {
  /** Devices of one workspace that receive push messages. */
  pushSubscriptionsMax: 50,
  /** Characters of the address of a device at its push service. */
  pushEndpointCharsMax: 2_048,
  /** Sessions that one device was not sent yet. Of more, the newest are kept. */
  pushPendingSessionsMax: 200,
  /** Committed changes that wait to be assigned to devices. Of more, the next search finds those that still matter. */
  pushQueuedChangesMax: 10_000,
  /** How long changes are gathered, so that many agents that ask at once cause one message. */
  pushGatherMs: 300,
  /** Devices that are sent messages at the same time. */
  pushAtOnceMax: 32,
  /** Those of one workspace. */
  pushAtOncePerWorkspaceMax: 4,
  /** Those of all workspaces whose last message was not accepted: the rest is left to workspaces whose push services respond. */
  pushFailingAtOnceMax: 16,
  /** How long a push service may take to respond. */
  pushAnswerMs: 10_000,
  /** The first wait after a failed delivery; it doubles each time, up to the longest. */
  pushRetryMs: 2_000,
  pushRetryMsMax: 10 * 60_000,
  /** Failed deliveries in a row after which a message is dropped. */
  pushTriesMax: 12,
  /** How long a push service keeps a message for a device that is offline, in seconds. */
  pushTtlSeconds: 24 * 60 * 60,
  /** How long a signature for a push service is valid. RFC 8292 allows 24 hours. */
  pushSignatureMs: 12 * 60 * 60 * 1_000,
  /** How often to search for sessions and messages that a crash has left behind, and for quiet hours that have ended. */
  pushLookMs: 15_000,
  /** A session that changed this recently is left to the node that runs it. */
  pushMarginMs: 10_000,
  /** How long the claim of a node on the message of a device lasts. */
  pushClaimMs: 60_000,
  /** Sessions that one search reads in one workspace, those that changed last. */
  pushLookSessionsMax: 200,
  /** Sessions that failed in this time are counted in a message. */
  pushFailedMs: 24 * 60 * 60 * 1_000,
  /** Sessions that are named in a message, where it may contain their names. */
  pushNamedSessionsMax: 3,
  /** Characters of the name and of the reason of each. Each may take six bytes in JSON, and a message has 3,993. */
  pushTextCharsMax: 80,
} as const;
