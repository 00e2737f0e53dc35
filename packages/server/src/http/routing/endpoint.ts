import type { Exchange } from './exchange.ts';

/** A method and path with the function that answers their requests. Its errors become error responses. */
export interface Endpoint {
  readonly method: string;
  /** The path pattern, in the format of {@link RouteTable}. */
  readonly path: string;
  /** The name of the endpoint in logs and metrics, such as `agents.create`. */
  readonly name: string;
  /** Whether the endpoint only reads and responds with one value, so that its response may be replaced while it runs. */
  readonly isRead?: boolean;
  /** Whether the endpoint is served while the database is unreachable. */
  readonly isOffline?: boolean;
  readonly handle: (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<void>;
}
