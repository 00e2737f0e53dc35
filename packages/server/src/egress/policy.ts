import { isIP } from 'node:net';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import { type HostEntry, isHostOf, toHostEntry, withoutDot } from '../tools/network/host-entry.ts';
import { publicRegistries } from './registries.ts';

/** A host and port to which a client in a sandbox requests a connection. The host is normalised as in a URL, without brackets. */
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
      /** Whether an entry names the port. Such a port may be used for other protocols than TLS. */
      readonly isNamedPort: boolean;
    }
  | { readonly type: 'refused'; readonly reason: RefusalReason; readonly message: string };

/** The targets that the programs of a session may connect to. */
export interface EgressPolicy {
  check(target: Target): Verdict;
  /** Whether all hosts that match an entry in `allowed_hosts` of a credential are allowed. */
  covers(entry: string): boolean;
}

/** The inputs of the policy of a session. */
export interface EgressPolicyOptions {
  readonly networking: Networking;
  /** The MCP servers of the session's agents. */
  readonly mcpServers?: readonly string[] | undefined;
  /** The registries of package managers; by default the public ones. */
  readonly packageHosts?: readonly string[] | undefined;
  /** Hosts that are allowed whatever the environment says. */
  readonly ownHosts?: readonly string[] | undefined;
}

/** Creates the policy of a session from its environment as it was when the session was created. */
export function createEgressPolicy(options: EgressPolicyOptions): EgressPolicy {
  const { networking } = options;
  const entries = listEntries(options);
  const isOpen = networking.type === 'unrestricted';
  const setting = isOpen ? 'the environment has unrestricted networking' : describe(networking);
  return {
    check: ({ host, port }) => {
      // An address is not a sub-domain, even if its text matches a wildcard.
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

/** The policy of a session without network access whose programs have a proxy nevertheless. */
export const closedPolicy: EgressPolicy = {
  check: ({ host, port }) => ({
    type: 'refused',
    reason: 'host_not_allowed',
    message: `${host}:${port} is not allowed: this server gives commands no network here; the operator can open it with --bash-network, or the environment can have limited networking with ${host} in its allowed_hosts`,
  }),
  covers: () => false,
};

/** The ports of an entry that names no port. */
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

/** An entry for the host and the port of an MCP server. */
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
