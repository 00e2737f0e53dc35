import type { CredentialAuth } from '@fleetloom/protocol/managed-agents';
import type { Store } from '../store/store.ts';
import type { RecordUse, SessionVaults } from './mcp-authorizations.ts';
import type { SecretBox } from './secret-box.ts';
import { CREDENTIAL, type StoredCredential, type StoredVault, toStored, VAULT } from './stored.ts';

/** A credential that programs of a session see as an environment variable. */
export interface SessionVariable {
  readonly id: string;
  readonly vaultId: string;
  readonly auth: Extract<CredentialAuth, { type: 'environment_variable' }>;
  /** The secret for a request to a host. Undefined if the secret was erased. Throws if it cannot be opened or its use cannot be recorded. */
  readSecret(host: string): Promise<string | undefined>;
}

/** The current variables of one session. */
export interface SessionVariables {
  list(): Promise<readonly SessionVariable[]>;
}

/** Creates the list of variables in the vaults of a session, read for each call. Of two variables with one name, the first vault's counts. */
export function createSessionVariables(
  { store, secrets: box }: { readonly store: Pick<Store, 'documents'>; readonly secrets: SecretBox },
  findVaults: () => Promise<SessionVaults | undefined>,
  recordUse: RecordUse,
): SessionVariables {
  return {
    list: async () => {
      const { workspaceId, vaultIds } = (await findVaults()) ?? { workspaceId: '', vaultIds: [] };
      if (vaultIds.length === 0) return [];
      const vaults = new Map(
        (await store.documents.getAll(VAULT, vaultIds)).map((each) => [each.id, toStored<StoredVault>(each).data]),
      );
      const byKey = new Map<string, { readonly id: string; readonly vaultId: string }>();
      for (const vaultId of vaultIds) {
        const vault = vaults.get(vaultId);
        if (vault === undefined || vault.workspaceId !== workspaceId || vault.archivedAt !== null) continue;
        for (const { id, key } of vault.active)
          if (key.startsWith('name:') && !byKey.has(key)) byKey.set(key, { id, vaultId });
      }
      const found = await store.documents.getAll(
        CREDENTIAL,
        [...byKey.values()].map(({ id }) => id),
      );
      const stored = new Map(found.map((each) => [each.id, toStored<StoredCredential>(each).data]));
      return [...byKey.values()].flatMap(({ id, vaultId }) => {
        const auth = stored.get(id)?.auth;
        if (auth?.type !== 'environment_variable') return [];
        const readSecret = async (host: string) => {
          const known = await box.read({ workspaceId, vaultId, id });
          if (known !== undefined) await recordUse({ workspaceId, vaultId, id }, host);
          return known?.secrets.secret_value;
        };
        return [{ id, vaultId, auth, readSecret }];
      });
    },
  };
}
