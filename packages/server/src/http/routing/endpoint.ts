import type { Exchange } from './exchange.ts';

/** A method and path with the function that answers their requests. What it throws becomes an error response. */
export interface Endpoint {
  readonly method: string;
  /** As {@link RouteTable} takes it. */
  readonly path: string;
  /** `agents.create`: names the endpoint in logs and metrics. */
  readonly name: string;
  /** Whether it only reads and answers with one value, so that its response may be replaced while it runs. */
  readonly isRead?: boolean;
  /** Whether it is served while the database is unreachable. */
  readonly isOffline?: boolean;
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>;
}
