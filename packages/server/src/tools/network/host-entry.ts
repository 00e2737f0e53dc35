/** An entry of a list of hosts. */
export interface HostEntry {
  /** The host. If empty, the entry is invalid and matches nothing. */
  readonly hostname: string;
  /** Whether the entry matches all hosts below the host, and not the host itself. */
  readonly isBelow: boolean;
  /** The port; empty if the entry names none. */
  readonly port: string;
}

/**
 * Reads an entry: one host, with `*.` before it all hosts below it, and with a port only that port. Addresses that begin with a
 * scheme are reduced to their host, because people paste URLs. A mistake in the list must not allow more.
 */
export function toHostEntry(text: string): HostEntry {
  const plain = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const isBelow = plain.startsWith('*.');
  const address = `http://${isBelow ? plain.slice(2) : plain}`;
  if (!URL.canParse(address)) return { hostname: '', isBelow, port: '' };
  const { hostname } = new URL(address);
  const port = /^(?:\[[^\]]*\]|[^:/?#[\]]*):(\d+)/.exec(address.slice('http://'.length))?.[1] ?? '';
  return { hostname: withoutDot(hostname), isBelow, port };
}

/** Whether an entry matches the host of a URL, regardless of the port. */
export function isHostOf({ hostname, isBelow }: HostEntry, host: string): boolean {
  if (hostname === '') return false;
  const plain = withoutDot(host);
  return isBelow ? plain.endsWith(`.${hostname}`) : plain === hostname;
}

/** The name without the trailing dot of a fully qualified name. */
export function withoutDot(host: string): string {
  return host.replace(/\.$/, '');
}
