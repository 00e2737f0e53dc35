import type { Networking } from '@fleetloom/protocol/managed-agents';
import { ToolFailure } from '../tool-failure.ts';
import { type HostEntry, isHostOf, toHostEntry } from './host-entry.ts';

/** The hosts that the tools of a session may reach, by its environment. */
export interface NetworkRules {
  readonly isLimited: boolean;
  /** Throws a {@link ToolFailure} for a host that the environment does not allow. */
  checkHost(url: URL): void;
  /** Whether a connection to an MCP server is allowed. */
  allowsMcpServer(url: string): boolean;
}

/**
 * Reads the network of an environment. An entry of `allowed_hosts` without a port allows all ports of its host.
 */
export function toNetworkRules(networking: Networking | undefined): NetworkRules {
  if (networking === undefined || networking.type === 'unrestricted') return unrestricted;
  const entries = networking.allowed_hosts.map(toHostEntry);
  const isAllowed = (url: URL) => entries.some((entry) => fits(entry, url));
  return {
    isLimited: true,
    checkHost: (url) => {
      if (isAllowed(url)) return;
      const allowed = networking.allowed_hosts.length === 0 ? 'none' : networking.allowed_hosts.join(', ');
      throw new ToolFailure(
        `${url.host} cannot be reached: the environment of this session limits its network (allowed_hosts: ${allowed})`,
      );
    },
    allowsMcpServer: (url) => networking.allow_mcp_servers || (URL.canParse(url) && isAllowed(new URL(url))),
  };
}

const unrestricted: NetworkRules = { isLimited: false, checkHost: () => {}, allowsMcpServer: () => true };

function fits(entry: HostEntry, url: URL): boolean {
  return (entry.port === '' || entry.port === portOf(url)) && isHostOf(entry, url.hostname);
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}
