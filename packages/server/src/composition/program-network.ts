import { isIP } from 'node:net';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import type { ProgramNetwork } from '../engines/program/program-network.ts';
import type { ResolveHost } from '../tools/network/find-addresses.ts';
import { toNetworkRules } from '../tools/network/network-rules.ts';
import { isPublicAddress } from '../tools/network/is-public-address.ts';

/** Which hosts a program in the sandbox may reach. */
export interface ProgramNetworkOptions {
  /** The networking of the session's environment. */
  readonly networking: Networking | undefined;
  /** Hosts that may be private, as `host` or `host:port`. */
  readonly allowedPrivateHosts?: readonly string[] | undefined;
  /** Hosts that a program needs for its own login, whatever the environment says. */
  readonly loginHosts?: readonly string[] | undefined;
  readonly resolveHost: ResolveHost;
}

/** Applies the rules of tools to programs: hosts that the environment allows, and no host on this machine or a private network. */
export function createProgramNetwork(options: ProgramNetworkOptions): ProgramNetwork {
  const { networking, allowedPrivateHosts = [], loginHosts = [], resolveHost } = options;
  const rules = toNetworkRules(networking);

  return {
    findMcpServer: async (url, signal) => {
      if (!rules.allowsMcpServer(url.href)) {
        throw new Error(`the environment of this session limits its network, and ${url.host} is not part of it`);
      }
      return await findAddresses(url, signal);
    },
    findHost: async (url, signal) => {
      if (!loginHosts.includes(url.host)) {
        rules.checkHost(url);
        // Another port could belong to another protocol.
        const isOtherPort = url.port !== '' && !allowedPrivateHosts.includes(url.host);
        if (!rules.isLimited && isOtherPort) throw new Error(`${url.host} cannot be reached: only port 443 can`);
      }
      return await findAddresses(url, signal);
    },
  };

  async function findAddresses(url: URL, signal: AbortSignal | undefined): Promise<readonly string[]> {
    const hostname = url.hostname.replace(/^\[|\]$/g, '');
    const all = isIP(hostname) === 0 ? await resolveHost(hostname, signal) : [hostname];
    const mayBePrivate = allowedPrivateHosts.includes(url.host) || allowedPrivateHosts.includes(url.hostname);
    const allowed = mayBePrivate ? all : all.filter((address) => isPublicAddress(address));
    if (allowed.length > 0) return allowed;
    throw new Error(`${url.host} is not on the public internet, and the operator of this server has not allowed it`);
  }
}
