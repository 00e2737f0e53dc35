/** Numbers that bound webhooks. Each has a test at its edge. */
export const webhookLimits = {
  /** Webhook addresses of one server. */
  webhooksMax: 10,
  /** How long an address may take to respond. */
  webhookAnswerMs: 5_000,
  /** The first wait after a failed delivery; it doubles each time, up to the longest. */
  webhookRetryMs: 1_000,
  webhookRetryMsMax: 60_000,
  /** Sessions that are delivered to one address at the same time. */
  webhookSessionsAtOnceMax: 4,
  /** Sessions queued for one address; further sessions are found again once these are delivered. */
  webhookWaitingSessionsMax: 10_000,
  /** Deliveries of one address that are kept in memory for the settings page. */
  webhookOutcomesMax: 20,
  /** How old an event may be to be delivered. */
  webhookKeepMs: 3 * 24 * 60 * 60 * 1_000,
  /** How often to search for undelivered sessions, which a crash or a full queue leaves behind. */
  webhookLookMs: 15_000,
  /** A running session that changed this recently is delivered by the node that runs it; also how far clocks of nodes may differ. */
  webhookMarginMs: 60_000,
  /** How often to check all sessions that have a cursor: deleted sessions are not in any list. */
  webhookSweepMs: 10 * 60_000,
  /** How long the claim of a node on a session's cursor lasts without renewal. */
  webhookClaimMs: 30_000,
} as const;
