import type { Networking } from '@fleetloom/protocol/managed-agents';
import { ToolFailure } from '../tool-failure.ts';

/** What the tools of a session may reach, as its environment says. */
export interface NetworkRules {
  readonly isLimited: boolean;
  /** Throws a {@link ToolFailure} for a host that the environment does not allow. */
  checkHost(url: URL): void;
  /** Whether an MCP server may be asked. */
  allowsMcpServer(url: string): boolean;
}

/**
 * Reads the network of an environment. An entry of `allowed_hosts` is one host, with `*.` before it all hosts below it, and
 * with a port only that port. Addresses that begin with a scheme are taken for their host, as people paste them.
 */
export function toNetworkRules(networking: Networking | undefined): NetworkRules {
  if (networking === undefined || networking.type === 'unrestricted') return unrestricted;
  const entries = networking.allowed_hosts.map(toEntry);
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

interface Entry {
  readonly hostname: string;
  readonly isBelow: boolean;
  /** Empty: any. */
  readonly port: string;
}

/** An entry that is not a host matches nothing: a mistake in the list must not allow more. */
function toEntry(text: string): Entry {
  const plain = text.trim().replace(/^[a-z][a-z0-9+.-]*:\/\//i, '');
  const isBelow = plain.startsWith('*.');
  const address = `http://${isBelow ? plain.slice(2) : plain}`;
  if (!URL.canParse(address)) return { hostname: '', isBelow, port: '' };
  const { hostname } = new URL(address);
  const port = /^(?:\[[^\]]*\]|[^:/?#[\]]*):(\d+)/.exec(address.slice('http://'.length))?.[1] ?? '';
  return { hostname: withoutDot(hostname), isBelow, port };
}

function fits({ hostname, isBelow, port }: Entry, url: URL): boolean {
  if (hostname === '' || (port !== '' && port !== portOf(url))) return false;
  const host = withoutDot(url.hostname);
  return isBelow ? host.endsWith(`.${hostname}`) : host === hostname;
}

function portOf({ port, protocol }: URL): string {
  if (port !== '') return port;
  return protocol === 'https:' ? '443' : '80';
}

function withoutDot(host: string): string {
  return host.replace(/\.$/, '');
}
