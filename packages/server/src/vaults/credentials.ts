import { isDeepStrictEqual } from 'node:util';
import type {
  DeletedVaultCredential,
  Page as WirePage,
  VaultCredential,
  VaultCredentialCreateParams,
  VaultCredentialUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Auditor, NewAuditEntry } from '../store/audit.ts';
import type { DocumentChange, Store } from '../store/store.ts';
import { createAuth } from './create-auth.ts';
import { vaultLimits } from './limits.ts';
import { listDocuments, toDates, type VaultPage } from './list-documents.ts';
import { checkMetadata, mergeMetadata } from './metadata.ts';
import { checkVaultOpen, putVault, readVault, toArchived, toCredentialEvent, toDeleted } from './read-vault.ts';
import type { EventWriter } from '../webhooks/resource-events.ts';
import { retryConflicts } from './retry-conflicts.ts';
import type { SecretBox } from './secret-box.ts';
import {
  CREDENTIAL,
  type CredentialPath,
  noRefresh,
  type Secrets,
  type Stored,
  type StoredCredential,
  type StoredVault,
  toStored,
} from './stored.ts';
import { updateAuth } from './update-auth.ts';
import { invalidField, vaultError } from './vault-errors.ts';

/** The credentials of all vaults. No method returns a secret. */
export interface Credentials {
  create(
    path: Omit<CredentialPath, 'id'>,
    params: VaultCredentialCreateParams,
    audit?: Auditor,
    more?: CreateMore,
  ): Promise<VaultCredential>;
  get(path: CredentialPath): Promise<VaultCredential>;
  list(path: Omit<CredentialPath, 'id'>, page: VaultPage): Promise<WirePage<VaultCredential>>;
  update(path: CredentialPath, params: VaultCredentialUpdateParams, audit?: Auditor): Promise<VaultCredential>;
  /** Archives a credential and erases its secrets in the same commit. Archiving it again changes nothing. */
  archive(path: CredentialPath, audit?: Auditor): Promise<VaultCredential>;
  delete(path: CredentialPath, audit?: Auditor): Promise<DeletedVaultCredential>;
}

/** Further changes to make in the commit that creates a credential. */
export interface CreateMore {
  /** Archives the OAuth credential of the same URL, if the vault has one. */
  readonly replaces: true;
  readonly also: (id: string) => DocumentChange;
}

export interface CredentialsOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly secrets: SecretBox;
  readonly events: EventWriter;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
}

/** Credentials on a store. */
export function createCredentials({ store, secrets: box, events, clock, ids }: CredentialsOptions): Credentials {
  const { documents } = store;
  return {
    create: async ({ workspaceId, vaultId }, params, audit, more) => {
      const { display_name: displayName = null, metadata = {} } = params;
      checkMetadata(metadata);
      const id = ids.next('vcrd');
      return await retryConflicts(async () => {
        const vault = await readVault(documents, workspaceId, vaultId);
        checkVaultOpen(vault);
        const now = clock.now();
        const { auth, secrets, key } = createAuth(params.auth, now);
        const replaced = more === undefined ? undefined : await findReplaced(vault, key);
        const others = vault.data.active.filter((each) => each.id !== replaced?.id);
        checkRoom(vault.id, others, key);
        const dates = { createdAt: now, updatedAt: now, archivedAt: null };
        const owner = { workspaceId, vaultId };
        const data = { ...owner, displayName, metadata, auth, ...dates, secretsVersion: 1, refresh: noRefresh };
        const changes: DocumentChange[] = [
          putVault(vault, { ...vault.data, active: [...others, { id, key }] }),
          { type: 'put', kind: CREDENTIAL, id, data, ifRevision: 0 },
          await box.toPut({ workspaceId, vaultId, id }, secrets),
          ...(replaced === undefined ? [] : toArchived(replaced, now)),
          ...(more === undefined ? [] : [more.also(id)]),
        ];
        const emitted = [
          ...(replaced === undefined ? [] : [toCredentialEvent('archived', vault, replaced.id)]),
          toCredentialEvent('created', vault, id),
        ];
        const details = { ...toDetails(data), ...(replaced && { replaces: replaced.id }) };
        await commit(changes, emitted, now, audit?.('vault_credential.created', id, details));
        return toCredential(id, data);
      });
    },

    get: async (path) => {
      const { credential } = await read(path);
      return toCredential(credential.id, credential.data);
    },

    list: async ({ workspaceId, vaultId }, page) => {
      await readVault(documents, workspaceId, vaultId);
      const of = { kind: CREDENTIAL, workspaceId: vaultId } as const;
      const found = await listDocuments<StoredCredential>(documents, of, page);
      return { ...found, data: found.data.map(({ id, data }) => toCredential(id, data)) };
    },

    update: (path, params, audit) =>
      retryConflicts(async () => {
        const { credential } = await read(path);
        const { id, revision, data: before } = credential;
        if (before.archivedAt !== null) throw vaultError('credential_archived', `${id} is archived`);
        const now = clock.now();
        const changed = params.auth === undefined ? undefined : updateAuth(before.auth, params.auth, now);
        const secrets = changed?.secrets ?? {};
        const hasSecrets = Object.keys(secrets).length > 0;
        checkName(params.display_name);
        const after: StoredCredential = {
          ...before,
          auth: changed?.auth ?? before.auth,
          displayName: params.display_name === undefined ? before.displayName : params.display_name,
          metadata: params.metadata == null ? before.metadata : mergeMetadata(before.metadata, params.metadata),
        };
        if (!hasSecrets && isDeepStrictEqual(after, before)) return toCredential(id, before);
        const isNew = hasSecrets || !isDeepStrictEqual(after.auth, before.auth);
        const data: StoredCredential = {
          ...after,
          updatedAt: now,
          secretsVersion: before.secretsVersion + (hasSecrets ? 1 : 0),
          // Clears a recorded rejection: the new values may be accepted. The claim stays, because a request in progress still uses the refresh token.
          refresh: isNew
            ? { ...noRefresh, lastAt: before.refresh.lastAt, claimedUntil: before.refresh.claimedUntil }
            : before.refresh,
        };
        const put: DocumentChange = { type: 'put', kind: CREDENTIAL, id, data, ifRevision: revision };
        const secretChanges = hasSecrets ? [await withSecrets(path, secrets)] : [];
        const details = { ...toDetails(data), secrets: Object.keys(secrets) };
        await documents.change([put, ...secretChanges], audit?.('vault_credential.updated', id, details));
        return toCredential(id, data);
      }),

    archive: (path, audit) =>
      retryConflicts(async () => {
        const { vault, credential } = await read(path);
        const { id, data } = credential;
        if (data.archivedAt !== null) return toCredential(id, data);
        const now = clock.now();
        const changes = [withoutKey(vault, id), ...toArchived(credential, now)];
        const entry = audit?.('vault_credential.archived', id, toDetails(data));
        await commit(changes, [toCredentialEvent('archived', vault, id)], now, entry);
        return toCredential(id, { ...data, archivedAt: now, updatedAt: now });
      }),

    delete: (path, audit) =>
      retryConflicts(async () => {
        const { vault, credential } = await read(path);
        const changes = [withoutKey(vault, credential.id), ...toDeleted(credential.id)];
        const entry = audit?.('vault_credential.deleted', credential.id, toDetails(credential.data));
        await commit(changes, [toCredentialEvent('deleted', vault, credential.id)], clock.now(), entry);
        return { type: 'vault_credential_deleted', id: credential.id } as const;
      }),
  };

  async function read({ workspaceId, vaultId, id }: CredentialPath) {
    const vault = await readVault(documents, workspaceId, vaultId);
    return { vault, credential: await readCredential(documents, { workspaceId, vaultId, id }) };
  }

  /** The credential that a new one replaces: the OAuth credential for the same server. */
  async function findReplaced({ data }: Stored<StoredVault>, key: string) {
    const taken = data.active.find((each) => each.key === key);
    const document = taken && (await documents.get(CREDENTIAL, taken.id));
    const credential = document && toStored<StoredCredential>(document);
    return credential?.data.auth.type === 'mcp_oauth' ? credential : undefined;
  }

  /** The change that stores the new secrets together with the unchanged ones. */
  async function withSecrets(path: CredentialPath, added: Secrets): Promise<DocumentChange> {
    const known = await box.read(path);
    return await box.toPut(path, { ...known?.secrets, ...added }, known?.revision ?? 0);
  }

  async function commit(
    changes: readonly DocumentChange[],
    emitted: Parameters<EventWriter['toChanges']>[0],
    now: number,
    audit: NewAuditEntry | undefined,
  ): Promise<void> {
    await documents.change([...changes, ...events.toChanges(emitted, now)], audit);
    events.wake();
  }
}

/** Reads a credential of a vault. Throws if the credential belongs to another vault or workspace. */
export async function readCredential(
  documents: Store['documents'],
  { workspaceId, vaultId, id }: CredentialPath,
): Promise<Stored<StoredCredential>> {
  const document = await documents.get(CREDENTIAL, id);
  const credential = document && toStored<StoredCredential>(document);
  const isThere = credential?.data.vaultId === vaultId && credential.data.workspaceId === workspaceId;
  if (!isThere) throw vaultError('credential_not_found', `${id} does not exist in ${vaultId}`);
  return credential;
}

function checkRoom(vaultId: string, active: StoredVault['active'], key: string): void {
  const taken = active.find((each) => each.key === key);
  if (taken !== undefined) {
    const what = key.slice(key.indexOf(':') + 1);
    throw vaultError('credential_key_taken', `${vaultId} has a credential for ${what}: ${taken.id}`);
  }
  if (active.length < vaultLimits.credentialsMax) return;
  throw vaultError('too_many_credentials', `${vaultId} has ${active.length} active credentials`);
}

/** Throws for an empty name. Null is valid: it removes the name. */
function checkName(name: string | null | undefined): void {
  if (name === '') throw invalidField('display_name', 'is empty', 'send a name, or null to remove it');
}

function withoutKey(vault: Stored<StoredVault>, credentialId: string): DocumentChange {
  return putVault(vault, { ...vault.data, active: vault.data.active.filter(({ id }) => id !== credentialId) });
}

/** The details of a credential in the audit log. Without its URL, which may contain a key. */
export function toDetails({ vaultId, auth }: StoredCredential): object {
  return { vault_id: vaultId, type: auth.type };
}

function toCredential(id: string, data: StoredCredential): VaultCredential {
  const { vaultId, displayName, auth, metadata } = data;
  return {
    type: 'vault_credential',
    id,
    vault_id: vaultId,
    display_name: displayName,
    auth,
    metadata,
    ...toDates(data),
  };
}
