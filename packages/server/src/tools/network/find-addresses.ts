import { isIP } from 'node:net';
import { isPublicAddress } from './is-public-address.ts';

/** Resolves a name to its addresses. The signal cancels the lookup. */
export type ResolveHost = (hostname: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** Which addresses the tools of agents may connect to. */
export interface AddressRules {
  readonly resolveHost: ResolveHost;
  /** Hosts that may be private, as `host` or `host:port`, as configured by the operator. */
  readonly allowedPrivateHosts: readonly string[];
}

/** The allowed addresses of a host. `not_public`: the host has addresses, but none is allowed. */
export type FoundAddresses =
  | { readonly type: 'found'; readonly addresses: readonly string[] }
  | { readonly type: 'none' | 'not_public' };

/**
 * The addresses of the host of a URL that may be connected to. Connect to one of these and do not look up the name again:
 * it could have another address by then.
 */
export async function findAddresses(url: URL, rules: AddressRules, signal?: AbortSignal): Promise<FoundAddresses> {
  const hostname = toHostname(url);
  const all = isIP(hostname) === 0 ? await rules.resolveHost(hostname, signal) : [hostname];
  if (all.length === 0) return { type: 'none' };
  const addresses = mayBePrivate(url, rules) ? all : all.filter((address) => isPublicAddress(address));
  return addresses.length === 0 ? { type: 'not_public' } : { type: 'found', addresses };
}

/** The host of a URL without the brackets of an IPv6 address. */
export function toHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function mayBePrivate(url: URL, { allowedPrivateHosts }: AddressRules): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const names = [url.hostname, `${url.hostname}:${port}`];
  return allowedPrivateHosts.some((allowed) => names.includes(allowed.toLowerCase()));
}
