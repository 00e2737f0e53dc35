/** See postgres.mjs. */
export interface Postgres {
  readonly url: string;
  restart(mode?: 'fast' | 'immediate'): Promise<void>;
  halt(mode?: 'fast' | 'immediate'): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
}

export function startPostgres(): Promise<Postgres>;
