import type { CredentialAuth } from '@fleetloom/protocol/managed-agents';
import type { DocumentRecord } from '../store/records.ts';

// Documents of vaults in the store: three kinds, and one for their events. Adding or removing a credential is conditional on the
// revision of the vault, so that keys stay unique and archiving or deleting a vault misses no credential.

/** The document kinds. The secrets of a credential have the id of the credential. */
export const VAULT = 'vault';
export const CREDENTIAL = 'vault_credential';
export const SECRET = 'vault_secret';

/** A vault with the keys of its active credentials. */
export interface StoredVault {
  readonly workspaceId: string;
  readonly displayName: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt: number | null;
  /** The ids and keys of the active credentials. A key is `name:…` or `url:…`, and unique among them. */
  readonly active: readonly { readonly id: string; readonly key: string }[];
}

/** A credential without its secrets. */
export interface StoredCredential {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly displayName: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly auth: CredentialAuth;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt: number | null;
  /** Incremented when a caller or a refresh changes the secrets. */
  readonly secretsVersion: number;
  readonly refresh: RefreshState;
}

/** The state of renewing the access token. Times are by the clock of the store. */
export interface RefreshState {
  /** Whether the authorization server has rejected the grant: there is no further attempt until the credential is updated. */
  readonly isRefused: boolean;
  /** Consecutive failed attempts, and the time from which the next attempt is allowed. */
  readonly failures: number;
  readonly notBefore: number;
  /** The time until which a node has claimed the renewal. */
  readonly claimedUntil: number;
  readonly lastAt: number | null;
}

export const noRefresh: RefreshState = { isRefused: false, failures: 0, notBefore: 0, claimedUntil: 0, lastAt: null };

/** The sealed secrets of a credential. A key rotation uses the ids stored here; other readers open the secrets with the ids of the requested path. */
export interface StoredSecret {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly sealed: string;
}

/** The write-only fields of a credential. */
export type Secrets = Readonly<Partial<Record<SecretName, string>>>;
export type SecretName = 'token' | 'access_token' | 'refresh_token' | 'client_secret' | 'secret_value';

/** The id of a credential, and the vault and workspace in the path of the request. */
export interface CredentialPath {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly id: string;
}

/** A document with its revision. */
export interface Stored<Data> {
  readonly id: string;
  readonly revision: number;
  readonly data: Data;
}

/** Converts a document. The cast is safe because only this folder writes these documents. */
export function toStored<Data>(document: DocumentRecord): Stored<Data> {
  return { id: document.id, revision: document.revision, data: document.data as unknown as Data };
}

/** The names that the secrets of a credential are sealed with, so that they cannot be opened under another path. */
export function toNames(workspaceId: string, vaultId: string, credentialId: string): readonly string[] {
  return [workspaceId, vaultId, credentialId];
}
