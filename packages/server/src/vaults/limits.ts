/** Numbers that bound vaults, credentials and their use. Each has a test at its edge. */
export const vaultLimits = {
  /** Characters of the name of a vault or credential. */
  displayNameCharsMax: 255,
  /** Active credentials of one vault. */
  credentialsMax: 20,
  /** Bytes of a token, password or other secret. */
  secretBytesMax: 65_536,
  /** Characters of the URL of an MCP server or a token endpoint. */
  urlCharsMax: 2_048,
  /** Characters of a scope, a resource or a client id. */
  oauthTextCharsMax: 2_048,
  /** Allowed hosts of one secret. */
  allowedHostsMax: 16,
  hostCharsMax: 253,
  /** Vaults of one session. */
  sessionVaultsMax: 50,
  /** An access token is renewed when it expires within this time. */
  refreshEarlyMs: 60_000,
  /** A rejected token that was renewed this recently is not renewed again: the server rejects it for another reason than its age. */
  refreshAgainMs: 30_000,
  /** How long a token endpoint may take to respond, including the body. */
  tokenEndpointMs: 10_000,
  tokenResponseBytesMax: 256 * 1024,
  /** How long the claim of a node on renewing a token lasts: longer than a token endpoint may take. */
  refreshClaimMs: 15_000,
  /** How often a node checks whether another node has renewed a token. */
  refreshPollMs: 50,
  /** The first wait after a token endpoint failed; it doubles each time, up to the longest. */
  refreshRetryMs: 1_000,
  refreshRetryMsMax: 300_000,
  /** How long one step of a validation may take. */
  probeMs: 10_000,
  probeResponseBytesMax: 256 * 1024,
  /** Bytes of a response body that a validation reports. */
  capturedBytesMax: 4_096,
  /** How long a user may take to consent. */
  oauthFlowMs: 15 * 60_000,
  /** How long the result of a flow can be read after that time. */
  oauthFlowKeepMs: 15 * 60_000,
  /** How long the OAuth discovery of an MCP server may take, including the registration of a client. */
  oauthDiscoveryMs: 30_000,
  metadataBytesMax: 256 * 1024,
  /** How many secrets are encrypted again by one request. */
  rewrapBatchMax: 200,
  /** How often the use of a secret is recorded for each session, credential and host, and how many of these are remembered. */
  useEveryMs: 3_600_000,
  usesRememberedMax: 100_000,
} as const;
