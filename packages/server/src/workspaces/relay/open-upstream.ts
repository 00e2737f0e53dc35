import { type ClientRequest, type OutgoingHttpHeaders, request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import { toLookup } from '../../base/to-lookup.ts';
import { findAddresses, type ResolveHost } from '../../tools/network/find-addresses.ts';
import type { GitHosts } from './git-hosts.ts';
import { workspaceLimits } from '../limits.ts';

/** How git hosts are reached. */
export interface UpstreamOptions {
  readonly hosts: GitHosts;
  readonly resolveHost: ResolveHost;
  /** Certificates to trust, for tests of TLS. */
  readonly ca?: string | undefined;
}

/** A request to a git host. */
export interface UpstreamRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: OutgoingHttpHeaders;
}

/**
 * Opens a request to a git host, at a checked address: a host that is allowed only by `*` and resolves to a private
 * address is not reached. Rejects with a message for the agent.
 */
export async function openUpstream(
  { hosts, resolveHost, ca }: UpstreamOptions,
  { url, method, headers }: UpstreamRequest,
): Promise<ClientRequest> {
  if (!hosts.allows(url)) throw new Error(`${url.host} is not one of the git hosts that this server allows`);
  const rules = { resolveHost, allowedPrivateHosts: hosts.privateHosts };
  const found = await findAddresses(url, rules).catch(() => ({ type: 'none' as const }));
  if (found.type !== 'found') {
    const reason = found.type === 'none' ? 'its name has no address' : 'it is in a private network';
    throw new Error(`${url.host} cannot be reached: ${reason}`);
  }
  const start = url.protocol === 'https:' ? requestSecure : requestPlain;
  const upstream = start(url, {
    method,
    headers,
    agent: false,
    lookup: toLookup(found.addresses),
    timeout: workspaceLimits.gitProxyIdleMs,
    ...(ca === undefined ? {} : { ca }),
  });
  upstream.on('timeout', () => upstream.destroy(new Error(`${url.host} did not answer in time`)));
  return upstream;
}
