import type { DocumentChange, Store } from '../store/store.ts';
import type { ResourceEvent } from '../webhooks/resource-events.ts';
import {
  CREDENTIAL,
  noRefresh,
  SECRET,
  type Stored,
  type StoredCredential,
  type StoredVault,
  toStored,
  VAULT,
} from './stored.ts';
import { vaultError } from './vault-errors.ts';

// Functions that vaults and credentials share.

/** Reads a vault of a workspace. Throws if the vault does not exist or belongs to another workspace. */
export async function readVault(
  documents: Store['documents'],
  workspaceId: string,
  id: string,
): Promise<Stored<StoredVault>> {
  const document = await documents.get(VAULT, id);
  const vault = document && toStored<StoredVault>(document);
  if (vault?.data.workspaceId !== workspaceId) throw vaultError('vault_not_found', `${id} does not exist`);
  return vault;
}

/** Throws if the vault is archived. */
export function checkVaultOpen({ id, data }: Stored<StoredVault>): void {
  if (data.archivedAt !== null) throw vaultError('vault_archived', `${id} is archived`);
}

/** The change that replaces a vault if it has not changed since it was read. */
export function putVault({ id, revision }: Stored<StoredVault>, data: StoredVault): DocumentChange {
  return { type: 'put', kind: VAULT, id, data, ifRevision: revision };
}

/** The changes that archive a credential and erase its secrets. */
export function toArchived({ id, revision, data }: Stored<StoredCredential>, now: number): readonly DocumentChange[] {
  const archived = { ...data, archivedAt: now, updatedAt: now, refresh: { ...noRefresh, lastAt: data.refresh.lastAt } };
  return [
    { type: 'put', kind: CREDENTIAL, id, data: archived, ifRevision: revision },
    { type: 'delete', kind: SECRET, id },
  ];
}

/** The changes that delete a credential and its secrets. */
export function toDeleted(id: string): readonly DocumentChange[] {
  return [
    { type: 'delete', kind: CREDENTIAL, id },
    { type: 'delete', kind: SECRET, id },
  ];
}

/** The webhook event about a change of a credential. */
export function toCredentialEvent(
  what: 'created' | 'archived' | 'deleted' | 'refresh_failed',
  { id: vaultId, data }: Pick<Stored<Pick<StoredVault, 'workspaceId'>>, 'id' | 'data'>,
  id: string,
): Omit<ResourceEvent, 'time'> {
  return {
    fact: { type: `vault_credential.${what}`, vault_id: vaultId },
    id,
    workspaceId: data.workspaceId,
  };
}

/** The webhook event about a change of a vault. */
export function toVaultEvent(
  what: 'created' | 'archived' | 'deleted',
  workspaceId: string,
  id: string,
): Omit<ResourceEvent, 'time'> {
  return { fact: { type: `vault.${what}` }, id, workspaceId };
}
