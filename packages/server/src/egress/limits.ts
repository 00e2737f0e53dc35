/** Numbers that bound the egress proxy. Each has a test at its edge. */
export const egressLimits = {
  /** Connections of one session through the proxy at the same time. */
  connectionsMax: 64,
  /** Connections of all sessions to the proxy; fewer where the process may open few files. */
  allConnectionsMax: 16_384,
  /** How long a connection may last, and how long it may be idle. */
  connectionMs: 3_600_000,
  idleMs: 300_000,
  /** How long connecting to a host may take, and how long a client may take to begin TLS. */
  connectMs: 10_000,
  helloMs: 10_000,
  /** Bytes of the headers of one request. */
  headerBytesMax: 64 * 1024,
  /** Bytes of a body in which placeholders are replaced, and of all such bodies that a server holds at the same time. */
  bodyBytesMax: 10 * 1024 * 1024,
  heldBytesMax: 256 * 1024 * 1024,
  /** Bytes of the bodies that are held for one session at the same time. */
  sessionHeldBytesMax: 32 * 1024 * 1024,
  /** Bytes by which secrets may enlarge the body of a request, and its headers. */
  bodyGrowthBytesMax: 1024 * 1024,
  headerGrowthBytesMax: 256 * 1024,
  /** Connections of one session that a server logs individually. Of further connections only the number is logged. */
  loggedMax: 10_000,
  /** How often the number of further connections is logged. */
  omittedMs: 60_000,
  /** How long a certificate that the proxy issues is valid. */
  certificateMs: 24 * 3_600_000,
  /** Certificates of hosts that are kept for one session. */
  certificatesMax: 256,
} as const;
