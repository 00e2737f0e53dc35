/** An entry of the connections of a session, as `GET /v1/sessions/{id}/egress` lists it. */
export interface EgressConnection {
  /** The id of the connection, equal in the entries for its beginning and its end. */
  readonly id: string;
  readonly outcome: 'opened' | 'closed' | 'refused' | 'omitted';
  readonly created_at: string;
  readonly host: string | null;
  readonly port: number | null;
  readonly protocol: 'tunnel' | 'tls' | 'http' | null;
  readonly reason: string | null;
  readonly bytes_sent: number | null;
  readonly bytes_received: number | null;
  readonly duration_ms: number | null;
  /** How often each credential was used, by its id. */
  readonly credentials: Readonly<Record<string, number>>;
  /** The number of connections that an `omitted` entry stands for. */
  readonly count: number | null;
}

/** One row for each connection: the entry of its end replaces the entry of its beginning. In the given order, the newest first. */
export function toRows(entries: readonly EgressConnection[]): readonly EgressConnection[] {
  const ended = new Set(entries.filter(({ outcome }) => outcome === 'closed').map(({ id }) => id));
  return entries.filter(({ outcome, id }) => outcome !== 'opened' || !ended.has(id));
}

/** Sums over the connections to one host. */
export interface HostSum {
  readonly host: string;
  readonly allowed: number;
  readonly refused: number;
  readonly bytesSent: number;
  readonly bytesReceived: number;
}

/** The sums by host: hosts with refused connections first, then by bytes. */
export function sumHosts(rows: readonly EgressConnection[]): readonly HostSum[] {
  const sums = new Map<string, HostSum>();
  for (const { host, port, outcome, bytes_sent: sent, bytes_received: received } of rows) {
    if (host === null) continue;
    const name = port === null ? host : `${host}:${port}`;
    const before = sums.get(name) ?? { host: name, allowed: 0, refused: 0, bytesSent: 0, bytesReceived: 0 };
    const isRefused = outcome === 'refused';
    sums.set(name, {
      host: name,
      allowed: before.allowed + (isRefused ? 0 : 1),
      refused: before.refused + (isRefused ? 1 : 0),
      bytesSent: before.bytesSent + (sent ?? 0),
      bytesReceived: before.bytesReceived + (received ?? 0),
    });
  }
  const bytesOf = ({ bytesSent, bytesReceived }: HostSum) => bytesSent + bytesReceived;
  return [...sums.values()].toSorted((a, b) => b.refused - a.refused || bytesOf(b) - bytesOf(a));
}

/** The outcome of a connection in words. */
export function describeOutcome({ outcome, reason, count }: EgressConnection): string {
  if (outcome === 'omitted') return `${count ?? 0} more are not listed`;
  const word = { opened: 'open', closed: 'allowed', refused: 'refused' }[outcome];
  return reason === null ? word : `${word}: ${reason.replaceAll('_', ' ')}`;
}
