/** An entry of a list of hosts. */
export interface HostEntry {
  /** Empty: the entry is not a host, and matches nothing. */
  readonly hostname: string;
  /** All hosts below it, and not itself. */
  readonly isBelow: boolean;
  /** Empty: the entry names none. */
  readonly port: string;
}

/**
 * Reads an entry: one host, with `*.` before it all hosts below it, and with a port only that port. Addresses that begin with a
 * scheme are taken for their host, as people paste them. A mistake in the list must not allow more.
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

/** Whether a host, as a URL has it, is one of an entry, whatever its port. */
export function isHostOf({ hostname, isBelow }: HostEntry, host: string): boolean {
  if (hostname === '') return false;
  const plain = withoutDot(host);
  return isBelow ? plain.endsWith(`.${hostname}`) : plain === hostname;
}

/** The name without the dot that says that it is complete. */
export function withoutDot(host: string): string {
  return host.replace(/\.$/, '');
}
