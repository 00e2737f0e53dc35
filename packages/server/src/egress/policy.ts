import { isIP } from 'node:net';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { type HostEntry, isHostOf, toHostEntry, withoutDot } from '../tools/network/host-entry.ts';
import { publicRegistries } from './registries.ts';

/** A host and a port that a client in a sandbox wants to be connected to. The host is as a URL has it, without brackets. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Why a connection was refused, or ended by the proxy. */
export type RefusalReason =
  | 'host_not_allowed'
  | 'port_not_allowed'
  | 'address_not_public'
  | 'name_not_found'
  | 'unreachable'
  | 'certificate_not_valid'
  | 'server_name_differs'
  | 'server_name_encrypted'
  | 'not_tls'
  | 'host_header_differs'
  | 'request_not_understood'
  | 'too_many_connections';

/** Whether the environment of a session allows a target. */
export type Verdict =
  | {
      readonly type: 'allowed';
      /** An entry names the port, so that it may be one of another protocol than TLS. */
      readonly isNamedPort: boolean;
    }
  | { readonly type: 'refused'; readonly reason: RefusalReason; readonly message: string };

/** Where the programs of a session may connect to. */
export interface EgressPolicy {
  check(target: Target): Verdict;
  /** Whether all hosts that an entry of a credential stands for are allowed. */
  covers(entry: string): boolean;
}

/** What the policy of a session is made from. */
export interface EgressPolicyOptions {
  readonly networking: Networking;
  /** The MCP servers of the session's agents. */
  readonly mcpServers?: readonly string[] | undefined;
  /** The registries of package managers; by default the public ones. */
  readonly packageHosts?: readonly string[] | undefined;
  /** Hosts that are allowed whatever the environment says. */
  readonly ownHosts?: readonly string[] | undefined;
}

/** The policy of a session, of its environment as it was when the session was made. */
export function createEgressPolicy(options: EgressPolicyOptions): EgressPolicy {
  const { networking } = options;
  const entries = listEntries(options);
  const isOpen = networking.type === 'unrestricted';
  const setting = isOpen ? 'the environment has unrestricted networking' : describe(networking);
  return {
    check: ({ host, port }) => {
      // An address is not below a domain, whatever its digits are.
      const ofHost = entries.filter((entry) => isHostOf(entry, host) && !(entry.isBelow && isIP(host) !== 0));
      if (ofHost.some((entry) => entry.port === String(port))) return { type: 'allowed', isNamedPort: true };
      const isKnown = ofHost.some((entry) => entry.port === '') || (isOpen && isIP(host) === 0);
      if (isKnown && USUAL_PORTS.has(port)) return { type: 'allowed', isNamedPort: false };
      const shown = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
      if (isKnown || ofHost.length > 0) {
        const message = `${shown} is not allowed: ports 80 and 443 are, and those that allowed_hosts of the environment names (add ${shown})`;
        return { type: 'refused', reason: 'port_not_allowed', message };
      }
      const advice = isOpen ? 'use the name of the host instead of its address' : `add ${host} to its allowed_hosts`;
      return { type: 'refused', reason: 'host_not_allowed', message: `${shown} is not allowed: ${setting}; ${advice}` };
    },
    covers: (text) => {
      if (isOpen) return true;
      const wanted = toHostEntry(text);
      return entries.some((entry) =>
        wanted.isBelow
          ? entry.isBelow && (wanted.hostname === entry.hostname || wanted.hostname.endsWith(`.${entry.hostname}`))
          : isHostOf(entry, wanted.hostname),
      );
    },
  };
}

/** The policy of a session that has no network, for those whose programs have a proxy all the same. */
export const closedPolicy: EgressPolicy = {
  check: ({ host, port }) => ({
    type: 'refused',
    reason: 'host_not_allowed',
    message: `${host}:${port} is not allowed: this server gives commands no network here; the operator can open it with --bash-network, or the environment can have limited networking with ${host} in its allowed_hosts`,
  }),
  covers: () => false,
};

/** What an entry means that names no port. */
const USUAL_PORTS = new Set([80, 443]);

function listEntries({
  networking,
  mcpServers = [],
  packageHosts = publicRegistries,
  ownHosts = [],
}: EgressPolicyOptions) {
  const own = ownHosts.map(toHostEntry);
  if (networking.type === 'unrestricted') return own;
  return [
    ...own,
    ...networking.allowed_hosts.map(toHostEntry),
    ...(networking.allow_package_managers ? packageHosts.map(toHostEntry) : []),
    ...(networking.allow_mcp_servers ? mcpServers.flatMap(toServerEntry) : []),
  ];
}

/** The host of a server, and its port only. */
function toServerEntry(text: string): HostEntry[] {
  if (!URL.canParse(text)) return [];
  const { hostname, port, protocol } = new URL(text);
  return [{ hostname: withoutDot(hostname), isBelow: false, port: port || (protocol === 'https:' ? '443' : '80') }];
}

function describe(networking: Extract<Networking, { type: 'limited' }>): string {
  const { allowed_hosts: hosts } = networking;
  const shown = hosts.slice(0, SHOWN_HOSTS).join(', ');
  const more = hosts.length > SHOWN_HOSTS ? ` and ${hosts.length - SHOWN_HOSTS} more` : '';
  return `the environment has limited networking (allowed_hosts: ${shown === '' ? 'none' : shown}${more})`;
}

const SHOWN_HOSTS = 16;
