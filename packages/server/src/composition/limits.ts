/** Numbers that bound the start of a server. Each has a test at its edge. */
export const compositionLimits = {
  /** How often the leader removes expired documents. */
  sweepMs: 60_000,
  /** How often a node checks that it can reach its database, and how long it waits for the response. */
  readyEveryMs: 1_000,
  readyMs: 2_000,
  /** How long the requirements found on the machine are cached. */
  machineMs: 30_000,
  /** Clones, setup commands and installations of packages that run at the same time, in total and for one workspace. */
  preparationsMax: 32,
  preparationsOfWorkspaceMax: 16,
  /** How long files may take to be mounted. Older files without a session were left by a crash. */
  mountingMs: 60 * 60_000,
  /** How often entries of commands are moved into the audit log and entries are written to outputs, and how often old ones are removed. */
  auditEveryMs: 500,
  auditPruneMs: 3_600_000,
  /** Bytes of a syslog message; a longer one could not be a datagram. */
  syslogBytesMax: 60_000,
  /** How long a syslog daemon may accept no connection or read nothing. */
  syslogStallMs: 2_000,
  /** How often the server checks whether certificates were replaced. */
  tlsCheckMs: 1_000,
} as const;
