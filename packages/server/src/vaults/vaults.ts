import { isDeepStrictEqual } from 'node:util';
import type {
  DeletedVault,
  Page as WirePage,
  Vault,
  VaultCreateParams,
  VaultUpdateParams,
} from '@fleetloom/protocol/managed-agents';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { Auditor, NewAuditEntry } from '../store/audit.ts';
import type { DocumentChange, Store } from '../store/store.ts';
import { checkMetadata, mergeMetadata } from './metadata.ts';
import { listDocuments, toDates, type VaultPage } from './list-documents.ts';
import { vaultLimits } from './limits.ts';
import {
  checkVaultOpen,
  putVault,
  readVault,
  toArchived,
  toCredentialEvent,
  toDeleted,
  toVaultEvent,
} from './read-vault.ts';
import type { EventWriter } from '../webhooks/resource-events.ts';
import { retryConflicts } from './retry-conflicts.ts';
import { CREDENTIAL, type StoredCredential, type StoredVault, toStored, VAULT } from './stored.ts';
import { invalidField } from './vault-errors.ts';

/** The vaults of all workspaces. */
export interface Vaults {
  create(workspaceId: string, params: VaultCreateParams, audit?: Auditor): Promise<Vault>;
  get(workspaceId: string, id: string): Promise<Vault>;
  list(workspaceId: string, page: VaultPage): Promise<WirePage<Vault>>;
  update(workspaceId: string, id: string, params: VaultUpdateParams, audit?: Auditor): Promise<Vault>;
  /** Archives a vault and its credentials and erases their secrets, in one commit. Archiving it again changes nothing. */
  archive(workspaceId: string, id: string, audit?: Auditor): Promise<Vault>;
  delete(workspaceId: string, id: string, audit?: Auditor): Promise<DeletedVault>;
  /** Throws if a new session cannot have these vaults. */
  checkForSession(workspaceId: string, ids: readonly string[]): Promise<void>;
}

export interface VaultsOptions {
  readonly store: Pick<Store, 'documents'>;
  readonly events: EventWriter;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
}

/** Vaults on a store. */
export function createVaults({ store, events, clock, ids }: VaultsOptions): Vaults {
  const { documents } = store;
  return {
    create: async (workspaceId, { display_name: displayName, metadata = {} }, audit) => {
      checkMetadata(metadata);
      const id = ids.next('vlt');
      const now = clock.now();
      const data: StoredVault = {
        workspaceId,
        displayName,
        metadata,
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
        active: [],
      };
      const emitted = [toVaultEvent('created', workspaceId, id)];
      const entry = audit?.('vault.created', id, { name: displayName });
      await commit([{ type: 'put', kind: VAULT, id, data, ifRevision: 0 }], emitted, now, entry);
      return toVault(id, data);
    },

    get: async (workspaceId, id) => toVault(id, (await readVault(documents, workspaceId, id)).data),

    list: async (workspaceId, page) => {
      const found = await listDocuments<StoredVault>(documents, { kind: VAULT, workspaceId }, page);
      return { ...found, data: found.data.map(({ id, data }) => toVault(id, data)) };
    },

    update: (workspaceId, id, { display_name: displayName, metadata }, audit) =>
      retryConflicts(async () => {
        const vault = await readVault(documents, workspaceId, id);
        checkVaultOpen(vault);
        const before = vault.data;
        const changed = {
          ...before,
          displayName: displayName ?? before.displayName,
          metadata: metadata == null ? before.metadata : mergeMetadata(before.metadata, metadata),
        };
        if (isDeepStrictEqual(changed, before)) return toVault(id, before);
        const data = { ...changed, updatedAt: clock.now() };
        await documents.change([putVault(vault, data)], audit?.('vault.updated', id, { name: data.displayName }));
        return toVault(id, data);
      }),

    archive: (workspaceId, id, audit) =>
      retryConflicts(async () => {
        const vault = await readVault(documents, workspaceId, id);
        if (vault.data.archivedAt !== null) return toVault(id, vault.data);
        const now = clock.now();
        const data = { ...vault.data, archivedAt: now, updatedAt: now, active: [] };
        const ids = vault.data.active.map((each) => each.id);
        const credentials = (await documents.getAll(CREDENTIAL, ids)).map(toStored<StoredCredential>);
        const emitted = [
          ...credentials.map((each) => toCredentialEvent('archived', vault, each.id)),
          toVaultEvent('archived', workspaceId, id),
        ];
        const changes = credentials.flatMap((each) => toArchived(each, now));
        const entry = audit?.('vault.archived', id, { credentials: ids });
        await commit([putVault(vault, data), ...changes], emitted, now, entry);
        return toVault(id, data);
      }),

    delete: (workspaceId, id, audit) =>
      retryConflicts(async () => {
        const vault = await readVault(documents, workspaceId, id);
        const now = clock.now();
        const all = await listAllCredentials(id);
        const emitted = [
          ...all.map((each) => toCredentialEvent('deleted', vault, each)),
          toVaultEvent('deleted', workspaceId, id),
        ];
        const changes = all.flatMap(toDeleted);
        // Conditional on this revision: a credential that is added concurrently is either in the list or rejected.
        const removed = { type: 'delete', kind: VAULT, id, ifRevision: vault.revision } as const;
        const entry = audit?.('vault.deleted', id, { credentials: vault.data.active.map((each) => each.id) });
        await commit([...changes, removed], emitted, now, entry);
        return { type: 'vault_deleted', id } as const;
      }),

    checkForSession: async (workspaceId, vaultIds) => {
      if (vaultIds.length > vaultLimits.sessionVaultsMax) {
        const problem = `${vaultIds.length} vaults are named`;
        throw invalidField('vault_ids', problem, `name at most ${vaultLimits.sessionVaultsMax}`);
      }
      for (const vaultId of vaultIds) {
        checkVaultOpen(await readVault(documents, workspaceId, vaultId));
      }
    },
  };

  async function commit(
    changes: readonly DocumentChange[],
    emitted: Parameters<EventWriter['toChanges']>[0],
    now: number,
    audit: NewAuditEntry | undefined,
  ): Promise<void> {
    await documents.change([...changes, ...events.toChanges(emitted, now)], audit);
    events.wake();
  }

  async function listAllCredentials(vaultId: string): Promise<string[]> {
    const found: string[] = [];
    const of = { kind: CREDENTIAL, workspaceId: vaultId, limit: 100, order: 'asc' } as const;
    for (let above: string | undefined; ; ) {
      const page = await documents.listOfWorkspace({ ...of, above });
      found.push(...page.map(({ id }) => id));
      if (page.length === 0) return found;
      above = page.at(-1)!.id;
    }
  }
}

function toVault(id: string, data: StoredVault): Vault {
  const { displayName, metadata, createdAt, updatedAt, archivedAt } = data;
  return { type: 'vault', id, display_name: displayName, metadata, ...toDates({ createdAt, updatedAt, archivedAt }) };
}
