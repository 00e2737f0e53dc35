/** Numbers that bound vaults, credentials and their use. Each has a test at its edge. */
export const vaultLimits = {
  /** The name of a vault or credential. */
  displayNameCharsMax: 255,
  /** Active credentials of one vault. */
  credentialsMax: 20,
  /** A token, password or other secret. */
  secretBytesMax: 65_536,
  /** A URL of an MCP server or a token endpoint. */
  urlCharsMax: 2_048,
  /** A scope, a resource or a client id. */
  oauthTextCharsMax: 2_048,
  /** Hosts that a secret may be sent to. */
  allowedHostsMax: 16,
  hostCharsMax: 253,
  /** Vaults of one session. */
  sessionVaultsMax: 50,
  /** An access token is renewed when it expires within this time. */
  refreshEarlyMs: 60_000,
  /** A token that was renewed this recently and is refused all the same is not renewed again: the server wants something else. */
  refreshAgainMs: 30_000,
  /** How long a token endpoint may take, its body included. */
  tokenEndpointMs: 10_000,
  tokenResponseBytesMax: 256 * 1024,
  /** How long one node may renew a token before another one tries: longer than an endpoint may take. */
  refreshClaimMs: 15_000,
  /** How often a node looks whether another one has renewed a token. */
  refreshPollMs: 50,
  /** The first wait after a token endpoint failed; it doubles each time, up to the longest. */
  refreshRetryMs: 1_000,
  refreshRetryMsMax: 300_000,
  /** One step of a validation. */
  probeMs: 10_000,
  probeResponseBytesMax: 256 * 1024,
  /** The body of a response that a validation reports. */
  capturedBytesMax: 4_096,
  /** How long a user may take to consent. */
  oauthFlowMs: 15 * 60_000,
  /** How long it can be asked after that what came of it. */
  oauthFlowKeepMs: 15 * 60_000,
  /** How long finding out how an MCP server authorizes may take, with a registration. */
  oauthDiscoveryMs: 30_000,
  metadataBytesMax: 256 * 1024,
  /** How many secrets are encrypted again by one request. */
  rewrapBatchMax: 200,
  /** How often the use of a secret is recorded for each session, credential and host, and how many of these are remembered. */
  useEveryMs: 3_600_000,
  usesRememberedMax: 100_000,
} as const;
