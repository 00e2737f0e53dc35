/** How the connections of this process to its database are used. */
export interface ConnectionUse {
  /** Connections that reads and records may have, those that are open, and those that are in use. */
  readonly max: number;
  readonly open: number;
  readonly used: number;
  /** Queries that wait for a connection, and how long the oldest of them has waited. */
  readonly waiting: number;
  readonly oldestWaitMs: number;
  /** Queries since the start, and how long all of them together waited for a connection. */
  readonly queries: number;
  readonly waitedMs: number;
  /** Failures since the start, by kind. Conflicts with other writers are not failures. */
  readonly failures: Readonly<Record<FailureKind, number>>;
}

/** `unreachable`: no connection; `lost`: it broke during a query; `refused`: the database answered with an error. */
export type FailureKind = 'unreachable' | 'lost' | 'refused';
