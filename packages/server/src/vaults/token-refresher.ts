import { setTimeout as pause } from 'node:timers/promises';
import type { CapturedResponse, McpOAuthAuth } from '@fleetloom/protocol/managed-agents';
import type { Connections } from '../base/outgoing-http.ts';
import type { DocumentChange, Store } from '../store/store.ts';
import { isStoreError } from '../store/store-errors.ts';
import type { AddressRules } from '../tools/network/find-addresses.ts';
import { readCredential } from './credentials.ts';
import { vaultLimits } from './limits.ts';
import { toCredentialEvent } from './read-vault.ts';
import type { EventWriter } from '../webhooks/resource-events.ts';
import { retryConflicts } from './retry-conflicts.ts';
import type { SecretBox } from './secret-box.ts';
import {
  CREDENTIAL,
  type CredentialPath,
  noRefresh,
  type RefreshState,
  type Secrets,
  type Stored,
  type StoredCredential,
} from './stored.ts';
import { requestTokens, type TokenAnswer, type Tokens } from './token-request.ts';

/** The result of renewing an access token. `waiting`: the delay after a failed attempt has not passed yet. */
export type Refreshed =
  | { readonly type: 'succeeded'; readonly accessToken: string }
  | { readonly type: 'refused' | 'failed'; readonly response: CapturedResponse | null }
  | { readonly type: 'unreachable' | 'waiting' | 'no_refresh_token' };

/** Why a token is renewed. `asked`: a person validates the credential, so no delay applies. */
export type RefreshReason = 'expiring' | 'rejected' | 'asked';

/** Renews access tokens: one at a time for each credential, over all nodes. */
export interface TokenRefresher {
  /** Renews the token, unless the stored token is not `stale` any more. */
  refresh(path: CredentialPath, stale: string, why: RefreshReason): Promise<Refreshed>;
}

export interface TokenRefresherOptions {
  readonly store: Pick<Store, 'documents' | 'now'>;
  readonly secrets: SecretBox;
  readonly events: EventWriter;
  readonly connections: Connections;
  readonly rules: AddressRules;
}

/** Creates the refresher. The claim of a node is part of the credential's record, so that no two nodes use one refresh token. */
export function createTokenRefresher(options: TokenRefresherOptions): TokenRefresher {
  const { store, secrets: box, events, connections, rules } = options;
  const { documents } = store;
  const underWay = new Map<string, Promise<Refreshed>>();
  return {
    refresh: async (path, stale, why) => {
      const key = `${path.id} ${stale} ${why}`;
      // All requests of this process that find the same token expired share one attempt.
      const running = underWay.get(key) ?? run(path, stale, why).finally(() => underWay.delete(key));
      underWay.set(key, running);
      return await running;
    },
  };

  async function run(path: CredentialPath, stale: string, why: RefreshReason): Promise<Refreshed> {
    for (;;) {
      const credential = await readCredential(documents, path);
      const secrets = (await box.read(path))?.secrets;
      if (secrets?.access_token === undefined) return { type: 'no_refresh_token' };
      if (secrets.access_token !== stale) return { type: 'succeeded', accessToken: secrets.access_token };
      const { auth, refresh } = credential.data;
      if (auth.type !== 'mcp_oauth' || auth.refresh === null) return { type: 'no_refresh_token' };
      if (refresh.isRefused) return { type: 'refused', response: null };
      const now = await store.now();
      // The caller read the expiry before another node renewed the token, and the token afterwards.
      if (why === 'expiring' && !isExpiring(auth, now)) return { type: 'succeeded', accessToken: stale };
      if (why !== 'asked' && isTooEarly(refresh, why, now)) return { type: 'waiting' };
      if (now < refresh.claimedUntil) {
        await pause(vaultLimits.refreshPollMs);
        continue;
      }
      const claimed = await claim(credential, now + vaultLimits.refreshClaimMs);
      if (claimed !== undefined) return await renew(path, claimed, auth, secrets);
    }
  }

  /** Undefined if another writer came first. */
  async function claim(
    { id, revision, data }: Stored<StoredCredential>,
    claimedUntil: number,
  ): Promise<StoredCredential | undefined> {
    const claimed = { ...data, refresh: { ...data.refresh, claimedUntil } };
    try {
      await documents.change([{ type: 'put', kind: CREDENTIAL, id, data: claimed, ifRevision: revision }]);
      return claimed;
    } catch (error) {
      if (isStoreError(error, 'version_conflict')) return undefined;
      throw error;
    }
  }

  async function renew(
    path: CredentialPath,
    claimed: StoredCredential,
    { refresh }: McpOAuthAuth,
    secrets: Secrets,
  ): Promise<Refreshed> {
    const { client_id: clientId, token_endpoint: endpoint, token_endpoint_auth: method, scope, resource } = refresh!;
    const { refresh_token: token = '', client_secret: clientSecret = '' } = secrets;
    const authentication = method.type === 'none' ? { type: method.type } : { type: method.type, clientSecret };
    const fields = { grant_type: 'refresh_token', refresh_token: token, scope, resource };
    let answer: TokenAnswer = { type: 'unreachable' };
    try {
      answer = await requestTokens(connections, { endpoint, clientId, authentication, fields }, rules);
    } finally {
      await settle(path, { secretsVersion: claimed.secretsVersion, refreshToken: token }, answer);
    }
    if (answer.type === 'tokens') return { type: 'succeeded', accessToken: answer.tokens.accessToken };
    return answer;
  }

  /** Stores the result in one commit, before the new token is used. Secrets that a caller has updated in the meantime are kept. */
  async function settle(
    path: CredentialPath,
    sent: { readonly secretsVersion: number; readonly refreshToken: string },
    answer: TokenAnswer,
  ): Promise<void> {
    const isStored = await retryConflicts(async () => {
      const { id, revision, data } = await readCredential(documents, path);
      if (data.archivedAt !== null) return false;
      const put = (changed: StoredCredential): DocumentChange => {
        return { type: 'put', kind: CREDENTIAL, id, data: changed, ifRevision: revision };
      };
      if (data.secretsVersion !== sent.secretsVersion) {
        const kept = await withRefreshToken(path, sent.refreshToken, answer);
        const secretsVersion = data.secretsVersion + kept.length;
        await documents.change([
          put({ ...data, secretsVersion, refresh: { ...data.refresh, claimedUntil: 0 } }),
          ...kept,
        ]);
        return false;
      }
      const now = await store.now();
      const changes = [put(toChanged(data, answer, now))];
      if (answer.type === 'tokens') changes.push(await withTokens(path, answer.tokens));
      const { workspaceId, vaultId } = path;
      const failed = toCredentialEvent('refresh_failed', { id: vaultId, data: { workspaceId } }, id);
      await documents.change([...changes, ...events.toChanges(answer.type === 'refused' ? [failed] : [], now)]);
      return true;
    });
    if (isStored && answer.type === 'refused') events.wake();
  }

  /** The change for a caller that has set another access token in the meantime: it keeps that token, but replaces the spent refresh token. */
  async function withRefreshToken(path: CredentialPath, sent: string, answer: TokenAnswer): Promise<DocumentChange[]> {
    const refreshToken = answer.type === 'tokens' ? answer.tokens.refreshToken : undefined;
    const known = await box.read(path);
    if (refreshToken === undefined || known?.secrets.refresh_token !== sent) return [];
    return [await box.toPut(path, { ...known.secrets, refresh_token: refreshToken }, known.revision)];
  }

  async function withTokens(path: CredentialPath, tokens: Tokens): Promise<DocumentChange> {
    const known = await box.read(path);
    const renewed = {
      ...known?.secrets,
      access_token: tokens.accessToken,
      ...(tokens.refreshToken === undefined ? {} : { refresh_token: tokens.refreshToken }),
    };
    return await box.toPut(path, renewed, known?.revision ?? 0);
  }
}

function isExpiring({ expires_at: expires }: McpOAuthAuth, now: number): boolean {
  return expires !== undefined && Date.parse(expires) - now <= vaultLimits.refreshEarlyMs;
}

function isTooEarly({ notBefore, lastAt }: RefreshState, why: RefreshReason, now: number): boolean {
  if (now < notBefore) return true;
  return why === 'rejected' && lastAt !== null && now - lastAt < vaultLimits.refreshAgainMs;
}

function toChanged(data: StoredCredential, answer: TokenAnswer, now: number): StoredCredential {
  const { auth } = data;
  if (answer.type !== 'tokens' || auth.type !== 'mcp_oauth')
    return { ...data, refresh: toFailed(data.refresh, answer, now) };
  const { expires_at: _, ...rest } = auth;
  const { expiresInSeconds: seconds } = answer.tokens;
  const expiry = seconds === undefined ? {} : { expires_at: new Date(now + seconds * 1_000).toISOString() };
  return {
    ...data,
    auth: { ...rest, ...expiry },
    secretsVersion: data.secretsVersion + 1,
    refresh: { ...noRefresh, lastAt: now },
  };
}

function toFailed(before: RefreshState, answer: TokenAnswer, now: number): RefreshState {
  const { refreshRetryMs, refreshRetryMsMax } = vaultLimits;
  const waitMs = Math.min(refreshRetryMs * 2 ** before.failures, refreshRetryMsMax);
  return {
    ...before,
    isRefused: answer.type === 'refused',
    failures: Math.min(before.failures + 1, FAILURES_COUNTED),
    notBefore: now + waitMs,
    claimedUntil: 0,
  };
}

/** The number of failures up to which the delay grows. */
const FAILURES_COUNTED = 20;
