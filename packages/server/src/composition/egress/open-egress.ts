import { join } from 'node:path';
import type { Networking } from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../../base/clock.ts';
import { openSocketDirectory } from '../../base/files/open-socket-directory.ts';
import type { Ids } from '../../base/ids.ts';
import { createAuthority } from '../../egress/authority.ts';
import { createConnectionLog } from '../../egress/connection-log.ts';
import { createInterception } from '../../egress/intercept-tunnel.ts';
import { closedPolicy, createEgressPolicy, type EgressPolicy } from '../../egress/policy.ts';
import { createEgressProxy, type EgressProxy, type EgressProxyOptions } from '../../egress/proxy.ts';
import { createSessionEgresses, type OpenedProxy } from '../../egress/session-egresses.ts';
import type { EgressEntry } from '../../frames/egress-entry.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { Store } from '../../store/store.ts';
import type { HostResolver } from '../../tools/network/host-resolver.ts';
import type { InstallNetwork } from '../../tools/packages/package-prefixes.ts';
import type { SandboxEgress } from '../../tools/sandbox/egress.ts';
import type { SessionVariables } from '../../vaults/session-variables.ts';
import { readFirst } from '../../views/read-frames.ts';
import type { ServerOptions } from '../server-options.ts';
import { createSessionCredentials, toEnvironment } from './session-credentials.ts';
import { readTrustedRoots } from './trusted-roots.ts';

/** The network of programs in sandboxes. */
export interface OpenedEgress {
  /** How the sandboxes of a session reach other hosts; undefined if its environment allows none. */
  open(sessionId: string): Promise<SandboxEgress | undefined>;
  /** Opens the proxy for the program engine of a session. `ownHosts` are allowed whatever the environment allows. */
  readonly openProgram: (
    sessionId: string,
    networking: Networking,
    ownHosts: readonly string[],
  ) => Promise<EgressProxy>;
  /** The network to package registries for installations of a session, without its secrets. Undefined if it has none. */
  openInstaller(sessionId: string): InstallNetwork | undefined;
  /** The hosts that commands of a session may reach; undefined: none. */
  policyOf(sessionId: string): Promise<EgressPolicy | undefined>;
  /** Ends the connections of a session. */
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

const registriesOnly = { type: 'limited', allow_mcp_servers: false, allow_package_managers: true } as const;

/** The options that all proxies of one session share. */
type Shared = Omit<EgressProxyOptions, 'policy'> & Pick<OpenedProxy, 'owner' | 'trusted' | 'environment'>;

/** The parts that the egress proxies need. */
export interface OpenEgressOptions {
  readonly options: Pick<
    ServerOptions,
    'dataDirectory' | 'allowedPrivateHosts' | 'bashNetwork' | 'packageHosts' | 'egressCa'
  >;
  readonly store: Pick<Store, 'read' | 'sessions'>;
  readonly resolver: HostResolver;
  /** The variables of a session; undefined for one without vaults. */
  readonly variablesOf: (sessionId: string) => Promise<SessionVariables | undefined>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Logs connections of a session. Throws if this process does not own the session. */
  readonly write: (sessionId: string, entries: readonly EgressEntry[]) => Promise<void>;
  /** Called with every entry, including entries that are not logged. */
  readonly onEntry?: ((entry: EgressEntry) => void) | undefined;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the egress proxy. */
export async function openEgress(parts: OpenEgressOptions): Promise<OpenedEgress> {
  const { options, store, resolver, variablesOf, clock, ids, write, onEntry, onProblem } = parts;
  const { bashNetwork = 'limited', allowedPrivateHosts = [], packageHosts } = options;
  const sockets = openSocketDirectory(join(options.dataDirectory, 'egress-sockets'));
  await sockets.clear();
  const egresses = createSessionEgresses(sockets);
  let roots = options.egressCa === undefined ? undefined : readTrustedRoots(options.egressCa);
  /** Parts that all proxies of a session share. */
  const shared = new Map<string, Promise<Shared>>();
  return {
    open: async (sessionId) => {
      const policy = await policyOf(sessionId);
      const { owner, trusted, environment, ...common } = await share(sessionId);
      if (policy === undefined && trusted === undefined) return undefined;
      return await egresses.open(sessionId, async () => ({
        proxy: createEgressProxy({ ...common, policy: policy ?? closedPolicy }),
        owner,
        trusted,
        environment,
      }));
    },
    policyOf,
    openInstaller: (sessionId) => {
      if (bashNetwork === 'none') return undefined;
      const key = `packages of ${sessionId}`;
      return {
        open: () =>
          egresses.open(key, async () => {
            const { owner, interception: _, trusted: __, environment: ___, ...common } = await share(sessionId);
            const networking = { ...registriesOnly, allowed_hosts: [] };
            if (options.egressCa !== undefined) roots ??= readTrustedRoots(options.egressCa);
            const trusted = options.egressCa === undefined ? undefined : roots?.pem;
            const policy = createEgressPolicy({ networking, packageHosts });
            return { proxy: createEgressProxy({ ...common, policy }), owner, trusted, environment: {} };
          }),
        close: () => egresses.close(key),
      };
    },
    openProgram: async (sessionId, networking, ownHosts) => {
      const common = await share(sessionId);
      return createEgressProxy({ ...common, policy: createEgressPolicy({ networking, ownHosts, packageHosts }) });
    },
    close: async (sessionId) => {
      shared.delete(sessionId);
      await egresses.close(sessionId);
    },
    closeAll: () => egresses.closeAll(),
  };

  async function policyOf(sessionId: string): Promise<EgressPolicy | undefined> {
    return bashNetwork === 'none' ? undefined : await findPolicy(sessionId);
  }

  async function share(sessionId: string): Promise<Shared> {
    const opening = shared.get(sessionId) ?? openShared(sessionId);
    shared.set(sessionId, opening);
    try {
      return await opening;
    } catch (error) {
      shared.delete(sessionId);
      throw error;
    }
  }

  async function openShared(sessionId: string): Promise<Shared> {
    const log = createConnectionLog({
      write: (entries) => write(sessionId, entries),
      onEntry,
      clock,
      nextId: () => ids.next('sevt'),
      // The last connections of a session may end after it was released.
      onProblem: (problem) => isStoreError(problem, 'stale_owner') || onProblem(problem),
    });
    // Without a workspace the session was deleted in the meantime.
    const owner = (await store.sessions.findWorkspace(sessionId)) ?? sessionId;
    const common = { owner, resolveHost: resolver.forSession(), allowedPrivateHosts, log, onProblem };
    const variables = await variablesOf(sessionId);
    if (variables === undefined) return { ...common, environment: {} };
    roots ??= readTrustedRoots(options.egressCa);
    const authority = createAuthority(clock.now);
    const credentials = createSessionCredentials(sessionId, variables);
    return {
      ...common,
      interception: createInterception({ credentials, authority, trust: roots.context, log, onProblem }),
      trusted: `${roots.pem}${authority.certificate}`,
      environment: await toEnvironment(sessionId, variables),
    };
  }

  /** The policy of the environment at the creation of the session. Unrestricted networking is closed unless the operator opens it. */
  async function findPolicy(sessionId: string) {
    const first = await readFirst(store, sessionId);
    if (first.type !== 'session.created') return undefined;
    const { environment, agent, members } = first.payload;
    const { networking } = environment;
    if (networking === undefined || (networking.type === 'unrestricted' && bashNetwork !== 'open')) return undefined;
    const mcpServers = [agent, ...members].flatMap(({ mcp_servers: servers }) => servers.map(({ url }) => url));
    return createEgressPolicy({ networking, mcpServers, packageHosts });
  }
}
