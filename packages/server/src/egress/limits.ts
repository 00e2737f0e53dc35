/** Numbers that bound the egress proxy. Each has a test at its edge. */
export const egressLimits = {
  /** Connections of one session through the proxy at the same time. */
  connectionsMax: 64,
  /** Connections of all sessions to the proxy; less where the process may open few files. */
  allConnectionsMax: 16_384,
  /** How long one may last, and how long nothing may pass through it. */
  connectionMs: 3_600_000,
  idleMs: 300_000,
  /** How long connecting to a host may take, and how long a client may take to begin TLS. */
  connectMs: 10_000,
  helloMs: 10_000,
  /** The headers of one request. */
  headerBytesMax: 64 * 1024,
  /** A body in which placeholders are replaced, and all such bodies of a server that are held at the same time. */
  bodyBytesMax: 10 * 1024 * 1024,
  heldBytesMax: 256 * 1024 * 1024,
  /** Those of one session. */
  sessionHeldBytesMax: 32 * 1024 * 1024,
  /** How much larger secrets may make the body of a request, and its headers. */
  bodyGrowthBytesMax: 1024 * 1024,
  headerGrowthBytesMax: 256 * 1024,
  /** Connections of one session that a server logs one by one; of those beyond it only their number is logged. */
  loggedMax: 10_000,
  /** How often that number is logged. */
  omittedMs: 60_000,
  /** How long a certificate that the proxy makes is valid. */
  certificateMs: 24 * 3_600_000,
  /** Certificates of hosts that are kept for one session. */
  certificatesMax: 256,
} as const;
