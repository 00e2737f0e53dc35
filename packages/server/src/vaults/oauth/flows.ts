import { createHash, randomBytes } from 'node:crypto';
import type { FleetOAuthFlow, FleetOAuthFlowStarted } from '@fleetloom/protocol/fleet';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import type { Auditor } from '../../store/audit.ts';
import { isStoreError } from '../../store/store-errors.ts';
import { checkSecret, checkUrl } from '../create-auth.ts';
import { vaultLimits } from '../limits.ts';
import { checkVaultOpen, readVault } from '../read-vault.ts';
import { type Stored, toNames, toStored } from '../stored.ts';
import { vaultError } from '../vault-errors.ts';
import { type Callback, type CallbackResult, type FinishParts, finishFlow } from './finish-flow.ts';
import { discover, OFFLINE } from './discover.ts';
import { createMetadataReader } from './fetch-metadata.ts';
import { CALLBACK_PATH, findClient } from './find-client.ts';
import { digestOfState, type FlowSecrets, OAUTH_FLOW, type StoredFlow, toState } from './stored-flow.ts';

/** The parameters of a new flow. */
export interface OAuthFlowParams {
  readonly mcp_server_url: string;
  readonly display_name?: string | null;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly scope?: string;
}

/** The id of a flow and its vault. */
export interface FlowPath {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly id: string;
}

/** Gets credentials for MCP servers from their authorization servers, with the consent of a user in a browser (OAuth 2.1). */
export interface OAuthFlows {
  /** Finds the authorization server and returns the URL where the user consents. `ownUrl`: the URL at which the user reaches this server. */
  begin(
    path: Omit<FlowPath, 'id'>,
    params: OAuthFlowParams,
    ownUrl: string,
    audit: Auditor,
  ): Promise<FleetOAuthFlowStarted>;
  get(path: FlowPath): Promise<FleetOAuthFlow>;
  /** Processes the callback of a flow. Works on any node, and once. Rejects only for failures of this server. */
  finish(callback: Callback): Promise<CallbackResult>;
}

export interface OAuthFlowsOptions extends FinishParts {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Flows on a store. */
export function createOAuthFlows(options: OAuthFlowsOptions): OAuthFlows {
  const { store, openSealer, connections, rules, clock, ids } = options;
  const { documents } = store;
  return {
    begin: async ({ workspaceId, vaultId }, params, ownUrl, audit) => {
      const { mcp_server_url: url, display_name: displayName = null } = params;
      const given = checkParams(params);
      const vault = await readVault(documents, workspaceId, vaultId);
      checkVaultOpen(vault);
      const sealer = await openSealer();
      const reader = createMetadataReader(connections, rules, clock.steady);
      const server = await discover(reader, url);
      const client = await findClient({ reader, rules, server, ownUrl, given });

      await removeOld();
      const id = ids.next('vflow');
      const [codeVerifier, stateSecret] = [randomText(), randomText()];
      const { resource, tokenEndpoint } = server;
      const redirectUri = `${ownUrl}${CALLBACK_PATH}`;
      const secrets: FlowSecrets = { ...client, codeVerifier, tokenEndpoint, redirectUri, resource };
      const now = clock.now();
      const entry = audit('vault_credential.connect_started', id, { vault_id: vaultId });
      const data: StoredFlow = {
        workspaceId,
        vaultId,
        url,
        displayName,
        issuer: server.issuer,
        namesIssuer: server.namesIssuer,
        stateDigest: digestOfState(stateSecret),
        // Every auditor writes `by`.
        by: (entry.data as { by?: unknown }).by ?? null,
        createdAt: now,
        expiresAt: now + vaultLimits.oauthFlowMs,
        state: 'pending',
        credentialId: null,
        error: null,
        sealed: sealer.seal(JSON.stringify(secrets), toNames(workspaceId, vaultId, id)),
      };
      await documents.put({ kind: OAUTH_FLOW, id, data, ifRevision: 0 }, entry);
      const authorizationUrl = toAuthorizationUrl(server.authorizationEndpoint, {
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
        code_challenge_method: 'S256',
        state: toState(id, stateSecret),
        resource,
        scope: params.scope ?? server.scope,
      });
      return {
        type: 'oauth_flow_started',
        id,
        authorization_url: authorizationUrl,
        expires_at: toTime(data.expiresAt),
      };
    },

    get: async ({ workspaceId, vaultId, id }) => {
      const document = await documents.get(OAUTH_FLOW, id);
      const flow = document && toStored<StoredFlow>(document);
      const isThere = flow?.data.workspaceId === workspaceId && flow.data.vaultId === vaultId;
      if (!isThere) throw vaultError('oauth_flow_not_found', `${id} does not exist in ${vaultId}`);
      return toFlow(flow, clock.now());
    },

    finish: (callback) => finishFlow(options, callback),
  };

  /** Removes expired flows of all workspaces, the oldest first. Each `begin` removes more flows than it adds. */
  async function removeOld(): Promise<void> {
    const { items } = await documents.list({ kind: OAUTH_FLOW, order: 'asc', limit: REMOVED_AT_ONCE });
    for (const { id, revision, data } of items.map(toStored<StoredFlow>)) {
      if (data.expiresAt + vaultLimits.oauthFlowKeepMs > clock.now()) return;
      await documents.change([{ type: 'delete', kind: OAUTH_FLOW, id, ifRevision: revision }]).catch(ignoreConflict);
    }
  }
}

/** Checks values that the schema of the body cannot check without quoting them in its errors. */
function checkParams({ mcp_server_url: url, client_id: clientId, client_secret: clientSecret }: OAuthFlowParams) {
  checkUrl('mcp_server_url', url);
  if (clientSecret !== undefined) checkSecret('client_secret', clientSecret);
  if (clientId !== undefined) return { clientId, clientSecret };
  if (clientSecret === undefined) return undefined;
  throw vaultError('oauth_client_missing', 'client_secret: there is no client_id that it belongs to');
}

/** The URL where the user consents. These parameters replace parameters of the same name in the query of the endpoint. */
function toAuthorizationUrl(endpoint: string, params: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(endpoint);
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  // OpenID Connect: without a prompt, a provider may omit the refresh token for a user who has consented before.
  if (params['scope']?.split(' ').includes(OFFLINE) === true) url.searchParams.set('prompt', 'consent');
  return url.href;
}

function toFlow({ id, data }: Stored<StoredFlow>, now: number): FleetOAuthFlow {
  const base = {
    type: 'oauth_flow' as const,
    id,
    vault_id: data.vaultId,
    mcp_server_url: data.url,
    expires_at: toTime(data.expiresAt),
  };
  if (data.credentialId !== null) return { ...base, status: 'completed', credential_id: data.credentialId };
  if (data.error !== null) return { ...base, status: 'failed', error: data.error };
  // Includes flows whose node was killed while it exchanged the code.
  if (data.expiresAt <= now) return { ...base, status: 'failed', error: EXPIRED };
  return { ...base, status: 'pending' };
}

const EXPIRED = { type: 'expired', message: 'the user has not consented in time; begin again' } as const;

function toTime(time: number): string {
  return new Date(time).toISOString();
}

/** 256 random bits: a state or a code verifier (RFC 7636). */
function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function ignoreConflict(error: unknown): void {
  if (!isStoreError(error, 'version_conflict')) throw error;
}

const REMOVED_AT_ONCE = 20;
