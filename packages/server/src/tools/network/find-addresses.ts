import { isIP } from 'node:net';
import { isPublicAddress } from './is-public-address.ts';

/** The addresses of a name. The signal cancels the lookup. */
export type ResolveHost = (hostname: string, signal?: AbortSignal) => Promise<readonly string[]>;

/** Which addresses the tools of agents may connect to. */
export interface AddressRules {
  readonly resolveHost: ResolveHost;
  /** Hosts that may be private, as `host` or `host:port`. The operator names them. */
  readonly allowedPrivateHosts: readonly string[];
}

/** `not_public`: the host has addresses, and none that may be used. */
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

/** Without the brackets of an address of version 6. */
export function toHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function mayBePrivate(url: URL, { allowedPrivateHosts }: AddressRules): boolean {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  const names = [url.hostname, `${url.hostname}:${port}`];
  return allowedPrivateHosts.some((allowed) => names.includes(allowed.toLowerCase()));
}
