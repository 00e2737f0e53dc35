/** What the log has of a connection of the programs of a session to another host. */
export type EgressEntry =
  /** Nothing was sent before this was logged. */
  | (EgressTarget & { readonly id: string; readonly outcome: 'opened' })
  | (EgressTarget & {
      /** That of the entry with which it was opened. */
      readonly id: string;
      readonly outcome: 'closed';
      readonly bytes_sent: number;
      readonly bytes_received: number;
      readonly duration_ms: number;
      /** How often the secret of each credential was put into its requests. */
      readonly credentials?: Readonly<Record<string, number>>;
      /** Why the proxy ended it. */
      readonly reason?: string;
    })
  | (EgressTarget & { readonly id: string; readonly outcome: 'refused'; readonly reason: string })
  /** So many connections more were made or refused than are logged one by one. */
  | { readonly id: string; readonly outcome: 'omitted'; readonly count: number };

/** Where a connection leads, as its client has asked. `tunnel`: what passes is not seen by the proxy. */
export interface EgressTarget {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tunnel' | 'tls' | 'http';
}
