import type { McpAuthorization } from '../base/outgoing-http.ts';
import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';
import { vaultLimits } from './limits.ts';
import type { SecretBox } from './secret-box.ts';
import { toServerKey } from './server-key.ts';
import { CREDENTIAL, type CredentialPath, type StoredCredential, type StoredVault, toStored, VAULT } from './stored.ts';
import type { TokenRefresher } from './token-refresher.ts';

/** The vaults of a session, as they were named when it was created. */
export interface SessionVaults {
  readonly workspaceId: string;
  readonly vaultIds: readonly string[];
}

/** Records that a secret is about to be sent to a host. Rejects if that cannot be recorded: then the secret must not be sent. */
export type RecordUse = (path: CredentialPath, host: string) => Promise<void>;

export interface McpAuthorizationsOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly secrets: SecretBox;
  readonly refresher: TokenRefresher;
  readonly clock: Pick<Clock, 'now'>;
}

/** Finds the `authorization` of the MCP servers of one session. Its vaults are looked up once; credentials are read for each request. */
export function createMcpAuthorization(
  { store, secrets: box, refresher, clock }: McpAuthorizationsOptions,
  findVaults: () => Promise<SessionVaults | undefined>,
  recordUse: RecordUse,
): McpAuthorization {
  let vaults: Promise<SessionVaults | undefined> | undefined;
  return {
    find: async (url, rejected) => {
      const named = await findOnce();
      if (named === undefined || named.vaultIds.length === 0) return undefined;
      const path = await findCredential(named, url);
      const token = path === undefined ? undefined : await findToken(path, rejected);
      const header = token === undefined ? undefined : `Bearer ${token}`;
      if (path === undefined || header === undefined || header === rejected) return undefined;
      await recordUse(path, new URL(url).host);
      return header;
    },
    version: async (url) => {
      const named = await findOnce();
      const path = named === undefined ? undefined : await findCredential(named, url);
      const document = path === undefined ? undefined : await store.documents.get(CREDENTIAL, path.id);
      return document === undefined ? 'none' : `${document.id} ${document.revision}`;
    },
  };

  async function findOnce(): Promise<SessionVaults | undefined> {
    vaults ??= findVaults();
    return await vaults.catch((error: unknown) => {
      // A failure is not cached: the next request looks again.
      vaults = undefined;
      throw error;
    });
  }

  /** The credential for the server in the first vault, in the order of the session, that has one. */
  async function findCredential(
    { workspaceId, vaultIds }: SessionVaults,
    url: string,
  ): Promise<CredentialPath | undefined> {
    const key = toServerKey(url);
    if (key === undefined) return undefined;
    const found = (await store.documents.getAll(VAULT, vaultIds)).map(toStored<StoredVault>);
    for (const vaultId of vaultIds) {
      const vault = found.find(({ id }) => id === vaultId);
      if (vault === undefined || vault.data.workspaceId !== workspaceId || vault.data.archivedAt !== null) continue;
      const entry = vault.data.active.find((each) => each.key === key);
      if (entry !== undefined) return { workspaceId, vaultId, id: entry.id };
    }
    return undefined;
  }

  async function findToken(path: CredentialPath, rejected: string | undefined): Promise<string | undefined> {
    const document = await store.documents.get(CREDENTIAL, path.id);
    const known = document && (await box.read(path));
    // The credential was archived or deleted in the meantime.
    if (document === undefined || known === undefined) return undefined;
    const { auth } = toStored<StoredCredential>(document).data;
    if (auth.type !== 'mcp_oauth') return known.secrets.token;
    const { access_token: token } = known.secrets;
    if (token === undefined || auth.refresh === null) return token;
    const expiresAt = auth.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(auth.expires_at);
    const isEarly = rejected === undefined && clock.now() < expiresAt - vaultLimits.refreshEarlyMs;
    // Also if the server has rejected another token: the stored token is newer.
    if (isEarly || (rejected !== undefined && rejected !== `Bearer ${token}`)) return token;
    const refreshed = await refresher.refresh(path, token, rejected === undefined ? 'expiring' : 'rejected');
    if (refreshed.type === 'succeeded') return refreshed.accessToken;
    // After a failed renewal the old token is used until it expires.
    return clock.now() < expiresAt ? token : undefined;
  }
}
