/** How the log records a connection from the programs of a session to another host. */
export type EgressEntry =
  /** Logged before the first byte is sent. */
  | (EgressTarget & { readonly id: string; readonly outcome: 'opened' })
  | (EgressTarget & {
      /** The id of the `opened` entry. */
      readonly id: string;
      readonly outcome: 'closed';
      readonly bytes_sent: number;
      readonly bytes_received: number;
      readonly duration_ms: number;
      /** How often the secret of each credential was inserted into requests of this connection. */
      readonly credentials?: Readonly<Record<string, number>>;
      /** Why the proxy closed the connection. */
      readonly reason?: string;
    })
  | (EgressTarget & { readonly id: string; readonly outcome: 'refused'; readonly reason: string })
  /** The number of further connections, opened or refused, that are not logged one by one. */
  | { readonly id: string; readonly outcome: 'omitted'; readonly count: number };

/** The destination that the client asked for. `tunnel`: the proxy does not see the content. */
export interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tunnel' | 'tls' | 'http';
}
