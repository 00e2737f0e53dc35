import type { CredentialAuth } from '@fleetloom/protocol/managed-agents';
import type { DocumentRecord } from '../store/records.ts';

// What the store has of vaults: three kinds of documents, and one for their events. All changes of the credentials of a vault are
// made on the revision of the vault, so that keys stay unique and a cascade misses none.

/** The kinds of the documents. The ids of secrets are those of their credentials. */
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
  /** `name:…` or `url:…`, which no two active credentials share. */
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
  /** Grows when a caller or a refresh changes the secrets. */
  readonly secretsVersion: number;
  readonly refresh: RefreshState;
}

/** What is known about renewing the access token. Times are those of the store. */
export interface RefreshState {
  /** The authorization server has refused: nothing is tried until the credential is updated. */
  readonly isRefused: boolean;
  /** Failed attempts in a row, and when the next one may be made. */
  readonly failures: number;
  readonly notBefore: number;
  /** Until then a node is renewing it. */
  readonly claimedUntil: number;
  readonly lastAt: number | null;
}

export const noRefresh: RefreshState = { isRefused: false, failures: 0, notBefore: 0, claimedUntil: 0, lastAt: null };

/** The secrets of a credential, sealed together. The names are for a rotation; a reader gives the names of the place where it expects the secret. */
export interface StoredSecret {
  readonly workspaceId: string;
  readonly vaultId: string;
  readonly sealed: string;
}

/** The write-only fields of a credential. */
export type Secrets = Readonly<Partial<Record<SecretName, string>>>;
export type SecretName = 'token' | 'access_token' | 'refresh_token' | 'client_secret' | 'secret_value';

/** A credential and the vault in whose path it was asked for. */
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

/** Only this folder writes these documents, so their form is known. */
export function toStored<Data>(document: DocumentRecord): Stored<Data> {
  return { id: document.id, revision: document.revision, data: document.data as unknown as Data };
}

/** What the secrets of a credential are sealed with, so that those of another place do not open. */
export function toNames(workspaceId: string, vaultId: string, credentialId: string): readonly string[] {
  return [workspaceId, vaultId, credentialId];
}
