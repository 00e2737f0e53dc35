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

// What vaults and credentials have in common.

/** A vault of the workspace; one of another workspace does not exist. */
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

/** Changes a vault that is still as it was read. */
export function putVault({ id, revision }: Stored<StoredVault>, data: StoredVault): DocumentChange {
  return { type: 'put', kind: VAULT, id, data, ifRevision: revision };
}

/** Archives a credential and erases its secrets. */
export function toArchived({ id, revision, data }: Stored<StoredCredential>, now: number): readonly DocumentChange[] {
  const archived = { ...data, archivedAt: now, updatedAt: now, refresh: { ...noRefresh, lastAt: data.refresh.lastAt } };
  return [
    { type: 'put', kind: CREDENTIAL, id, data: archived, ifRevision: revision },
    { type: 'delete', kind: SECRET, id },
  ];
}

/** Deletes a credential with its secrets. */
export function toDeleted(id: string): readonly DocumentChange[] {
  return [
    { type: 'delete', kind: CREDENTIAL, id },
    { type: 'delete', kind: SECRET, id },
  ];
}

/** The event that says what became of a credential. */
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

/** The event that says what became of a vault. */
export function toVaultEvent(
  what: 'created' | 'archived' | 'deleted',
  workspaceId: string,
  id: string,
): Omit<ResourceEvent, 'time'> {
  return { fact: { type: `vault.${what}` }, id, workspaceId };
}
