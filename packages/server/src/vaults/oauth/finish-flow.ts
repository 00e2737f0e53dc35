import type { Clock } from '../../base/clock.ts';
import { FleetloomError } from '../../base/errors.ts';
import type { Connections } from '../../base/outgoing-http.ts';
import type { Sealer } from '../../keys/sealer.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Store } from '../../store/store.ts';
import { isStoreError } from '../../store/store-errors.ts';
import type { AddressRules } from '../../tools/network/find-addresses.ts';
import type { Credentials } from '../credentials.ts';
import { type Stored, toNames, toStored } from '../stored.ts';
import { requestTokens, type Tokens } from '../token-request.ts';
import { type FlowError, type FlowSecrets, isState, OAUTH_FLOW, readState, type StoredFlow } from './stored-flow.ts';

/** The parameters with which the authorization server has redirected the browser to the callback. */
export interface Callback {
  readonly state: string;
  readonly code: string | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  /** The issuer that the authorization server has named in its response (RFC 9207). */
  readonly issuer: string | undefined;
  /** The address of the browser, for the audit log. */
  readonly address: string | null;
}

/** The result of a callback, shown in the browser. `unknown`: the flow does not exist or has ended. */
export type CallbackResult =
  | { readonly type: 'completed'; readonly url: string }
  | { readonly type: 'failed'; readonly error: FlowError }
  | { readonly type: 'unknown' };

/** The dependencies of `finishFlow`. */
export interface FinishParts {
  readonly store: Pick<Store, 'documents'>;
  readonly credentials: Pick<Credentials, 'create'>;
  readonly openSealer: () => Promise<Sealer>;
  readonly connections: Connections;
  readonly rules: AddressRules;
  readonly clock: Pick<Clock, 'now'>;
}

/** Exchanges a code for tokens and stores them as a credential. Of several callbacks of one flow, on any nodes, only one succeeds. */
export async function finishFlow(parts: FinishParts, callback: Callback): Promise<CallbackResult> {
  const { store, clock } = parts;
  const { id, secret } = readState(callback.state);
  const document = id === '' ? undefined : await store.documents.get(OAUTH_FLOW, id);
  const flow = document && toStored<StoredFlow>(document);
  if (flow?.data.state !== 'pending' || flow.data.expiresAt <= clock.now()) return { type: 'unknown' };
  const refusal = isState(flow, secret) ? checkCallback(flow.data, callback) : WRONG_STATE;
  if (refusal !== undefined) return await fail(parts, flow, callback, refusal);
  // Only the callback that changes the flow first exchanges the code, so that the code is not sent twice.
  const claimed = await put(parts, flow, { ...flow.data, state: 'exchanging', sealed: null });
  if (claimed === undefined) return { type: 'unknown' };
  // Pending flows have `sealed`; only claiming a flow sets it to null.
  const secrets = await openSecrets(parts, flow.id, { ...flow.data, sealed: flow.data.sealed! });
  const tokens = await exchange(parts, secrets, callback.code!);
  if ('type' in tokens) return await fail(parts, claimed, callback, tokens);
  return await complete(parts, claimed, callback, secrets, tokens);
}

const WRONG_STATE: FlowError = {
  type: 'state_mismatch',
  message: 'the authorization server sent back another state than it was given',
};

/** Why a callback is rejected. The issuer is checked first: an error or code from another issuer does not count. */
function checkCallback({ issuer, namesIssuer }: StoredFlow, callback: Callback): FlowError | undefined {
  if (callback.issuer === undefined ? namesIssuer : callback.issuer !== issuer) {
    return { type: 'issuer_mismatch', message: `the answer is not from ${issuer}` };
  }
  if (callback.error !== undefined) {
    const reason = [callback.error, callback.errorDescription ?? ''].filter((text) => text !== '').join(': ');
    return { type: 'authorization_refused', message: `the authorization server refused: ${toLine(reason)}` };
  }
  if (callback.code !== undefined) return undefined;
  return { type: 'authorization_refused', message: 'the authorization server sent neither a code nor an error' };
}

/** Text of another server as one bounded line of ASCII. */
function toLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, REASON_CHARS_MAX);
}

const REASON_CHARS_MAX = 300;

async function openSecrets(
  { openSealer }: FinishParts,
  id: string,
  { workspaceId, vaultId, sealed }: StoredFlow & { readonly sealed: string },
): Promise<FlowSecrets> {
  // Only flows seal with these names.
  return JSON.parse((await openSealer()).open(sealed, toNames(workspaceId, vaultId, id))) as FlowSecrets;
}

async function exchange(
  { connections, rules }: FinishParts,
  secrets: FlowSecrets,
  code: string,
): Promise<Tokens | FlowError> {
  const { tokenEndpoint: endpoint, clientId, authentication, codeVerifier, redirectUri, resource } = secrets;
  const fields = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
    resource,
  };
  const answer = await requestTokens(connections, { endpoint, clientId, authentication, fields }, rules);
  if (answer.type === 'tokens') return answer.tokens;
  const what = answer.type === 'unreachable' ? 'has not answered' : `answered ${answer.response.status_code}`;
  return { type: 'token_request_failed', message: `the token endpoint ${what}` };
}

/** Stores the credential and completes its flow in one commit. */
async function complete(
  parts: FinishParts,
  flow: Stored<StoredFlow>,
  callback: Callback,
  { clientId, authentication, tokenEndpoint, resource }: FlowSecrets,
  { accessToken, refreshToken, expiresInSeconds: seconds }: Tokens,
): Promise<CallbackResult> {
  const { workspaceId, vaultId, url, displayName } = flow.data;
  const refresh = {
    client_id: clientId,
    refresh_token: refreshToken ?? '',
    token_endpoint: tokenEndpoint,
    token_endpoint_auth:
      authentication.type === 'none'
        ? { type: 'none' as const }
        : { type: authentication.type, client_secret: authentication.clientSecret },
    resource,
  };
  const expiresAt = seconds === undefined ? undefined : parts.clock.now() + Math.max(1, seconds) * 1_000;
  const auth = {
    type: 'mcp_oauth' as const,
    mcp_server_url: url,
    access_token: accessToken,
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
    refresh: refreshToken === undefined ? null : refresh,
  };
  try {
    await parts.credentials.create(
      { workspaceId, vaultId },
      { auth, display_name: displayName },
      toAuditor(flow.data, callback),
      {
        replaces: true,
        also: (credentialId) => toPut(flow, { ...flow.data, state: 'completed', credentialId }),
      },
    );
    return { type: 'completed', url };
  } catch (error) {
    // The vault may have been archived, or have reached its limit of credentials, in the meantime.
    if (!(error instanceof FleetloomError) || error.kind !== 'caller') throw error;
    return await fail(parts, flow, callback, { type: 'credential_not_stored', message: error.message });
  }
}

async function fail(
  parts: FinishParts,
  flow: Stored<StoredFlow>,
  callback: Callback,
  error: FlowError,
): Promise<CallbackResult> {
  const details = { vault_id: flow.data.vaultId, error: error.type };
  const entry = toAuditor(flow.data, callback)('vault_credential.connect_failed', flow.id, details);
  const failed = await put(parts, flow, { ...flow.data, state: 'failed', error, sealed: null }, entry);
  return failed === undefined ? { type: 'unknown' } : { type: 'failed', error };
}

/** Undefined if another writer came first. */
async function put(
  { store }: FinishParts,
  flow: Stored<StoredFlow>,
  data: StoredFlow,
  audit?: ReturnType<Auditor>,
): Promise<Stored<StoredFlow> | undefined> {
  try {
    return toStored<StoredFlow>(await store.documents.put(toPut(flow, data), audit));
  } catch (error) {
    if (!isStoreError(error, 'version_conflict')) throw error;
    return undefined;
  }
}

function toPut({ id, revision }: Stored<StoredFlow>, data: StoredFlow) {
  return { type: 'put' as const, kind: OAUTH_FLOW, id, data, ifRevision: revision };
}

/** Creates the auditor of a callback. A callback has no API key, so its actions are attributed to the caller that began the flow. */
function toAuditor({ workspaceId, by }: StoredFlow, { address }: Callback): Auditor {
  return (action, target, details) => ({ workspaceId, data: { action, by, address, target, details } });
}
