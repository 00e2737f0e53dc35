import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { type McpAuthorization, openConnections } from '../../base/outgoing-http.ts';
import { requestError } from '../../base/request-error.ts';
import { isProgramModel } from '../../engines/program/registry.ts';
import type { CheckVaults } from '../../http/routes/sessions.ts';
import type { MasterKeys } from '../../keys/master-key.ts';
import { countKeyUse, rewrapSome } from '../../keys/sealed-rows.ts';
import type { SessionData } from '../../frames/record-data.ts';
import type { Store } from '../../store/store.ts';
import type { HostResolver } from '../../tools/network/host-resolver.ts';
import { createCredentials, type Credentials } from '../../vaults/credentials.ts';
import { vaultLimits } from '../../vaults/limits.ts';
import { createMcpAuthorization, type SessionVaults } from '../../vaults/mcp-authorizations.ts';
import { createOAuthFlows, type OAuthFlows } from '../../vaults/oauth/flows.ts';
import { createEventWriter } from '../../webhooks/resource-events.ts';
import { createSecretBox } from '../../vaults/secret-box.ts';
import { createSessionVariables, type SessionVariables } from '../../vaults/session-variables.ts';
import type { SecretKeys } from '../../vaults/secret-keys.ts';
import { createTokenRefresher } from '../../vaults/token-refresher.ts';
import { validateCredential } from '../../vaults/validate-credential.ts';
import { createVaults, type Vaults } from '../../vaults/vaults.ts';
import type { ValidateCredential } from '../../http/routes/vaults/credentials.ts';
import type { OpenedPrograms } from '../open-programs.ts';
import { sealedKinds } from './open-secrets.ts';
import { createSecretUses } from './secret-uses.ts';

/** The vaults of a server, and the functions that use their credentials. */
export interface OpenedVaults {
  readonly vaults: Vaults;
  readonly credentials: Credentials;
  readonly validate: ValidateCredential;
  readonly oauthFlows: OAuthFlows;
  readonly secretKeys: SecretKeys;
  /** The credentials of a session for its MCP servers. */
  readonly authorizationOf: (sessionId: string) => McpAuthorization;
  /** The variables of a session; undefined for one without vaults. */
  readonly variablesOf: (sessionId: string) => Promise<SessionVariables | undefined>;
  readonly close: () => void;
}

export interface OpenVaultsOptions {
  readonly store: Store;
  readonly masterKeys: MasterKeys;
  /** Called when events were committed; undefined if no webhook would receive them. */
  readonly onEvents: (() => void) | undefined;
  readonly allowedPrivateHosts: readonly string[] | undefined;
  readonly resolver: HostResolver;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Opens the vaults on a store. */
export function openVaults(options: OpenVaultsOptions): OpenedVaults {
  const { store, masterKeys, onEvents, allowedPrivateHosts = [], resolver, clock, ids } = options;
  const connections = openConnections();
  const rules = { allowedPrivateHosts, resolveHost: resolver.forSession() };
  const secrets = createSecretBox(store, () => masterKeys.openSealer());
  const events = createEventWriter(ids, onEvents);
  const refresher = createTokenRefresher({ store, secrets, events, connections, rules });
  const parts = { store, secrets, refresher, clock };
  const usesOf = createSecretUses(store, clock);
  const credentials = createCredentials({ store, secrets, events, clock, ids });
  const openSealer = () => masterKeys.openSealer();
  return {
    vaults: createVaults({ store, events, clock, ids }),
    credentials,
    validate: (path, audit) => validateCredential({ ...parts, connections, rules }, path, audit),
    oauthFlows: createOAuthFlows({ store, credentials, openSealer, connections, rules, clock, ids }),
    secretKeys: {
      current: () => masterKeys.peek(),
      count: () => countKeyUse(store, sealedKinds),
      rewrap: async (audit) => {
        const sealer = await masterKeys.openSealer();
        const entry = audit?.('secrets.rotated', null, { key_id: sealer.keyId ?? null });
        return await rewrapSome(store, sealedKinds, sealer, { max: vaultLimits.rewrapBatchMax, audit: entry });
      },
    },
    authorizationOf: (sessionId) =>
      createMcpAuthorization(parts, () => findVaults(sessionId), usesOf(sessionId, 'mcp')),
    variablesOf: async (sessionId) => {
      const named = await findVaults(sessionId);
      return named === undefined || named.vaultIds.length === 0
        ? undefined
        : createSessionVariables(parts, async () => named, usesOf(sessionId, 'variable'));
    },
    close: () => connections.close(),
  };

  async function findVaults(sessionId: string): Promise<SessionVaults | undefined> {
    const workspaceId = await store.sessions.findWorkspace(sessionId);
    const session = workspaceId === undefined ? undefined : await store.sessions.get(workspaceId, sessionId);
    if (workspaceId === undefined || session === undefined) return undefined;
    // Only sessions write this data.
    const { vault_ids: vaultIds = [] } = session.data as unknown as SessionData;
    return { workspaceId, vaultIds };
  }
}

/** Creates a check that rejects vaults for programs without a sandbox, which could read the stored secrets. */
export function createVaultCheck(
  vaults: Pick<Vaults, 'checkForSession'>,
  programOf: OpenedPrograms['programOf'],
): CheckVaults {
  return async (workspaceId, vaultIds, models) => {
    if (vaultIds.length === 0) return;
    await vaults.checkForSession(workspaceId, vaultIds);
    for (const model of models.filter(isProgramModel)) {
      if ((await programOf(model).describe()).isSandboxed) continue;
      const problem = `vault_ids: ${model} runs without a sandbox on this server, and could read the secrets of vaults`;
      throw requestError('invalid_request', problem, { advice: 'leave vault_ids out, or use another model' });
    }
  };
}
