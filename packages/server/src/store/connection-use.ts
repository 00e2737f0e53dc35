/** Statistics of this process's connections to its database. */
export interface ConnectionUse {
  /** Connections for reads and records: the maximum, the open ones, and those in use. */
  readonly max: number;
  readonly open: number;
  readonly used: number;
  /** Queries that wait for a connection, and the wait of the oldest one. */
  readonly waiting: number;
  readonly oldestWaitMs: number;
  /** Queries since the start, and the total time they waited for a connection. */
  readonly queries: number;
  readonly waitedMs: number;
  /** Failures since the start, by kind. Conflicts with other writers are not failures. */
  readonly failures: Readonly<Record<FailureKind, number>>;
}

/** `unreachable`: no connection; `lost`: it broke during a query; `refused`: the database answered with an error. */
export type FailureKind = 'unreachable' | 'lost' | 'refused';
