import type { Sealer } from '../keys/sealer.ts';
import type { DocumentChange, Store } from '../store/store.ts';
import { type CredentialPath, SECRET, type Secrets, type StoredSecret, toNames, toStored } from './stored.ts';

/** The secrets of credentials, which are stored sealed and nowhere else. */
export interface SecretBox {
  /** Undefined if the secrets were erased. Throws if they were sealed for another path or with an unknown key. */
  read(path: CredentialPath): Promise<{ readonly secrets: Secrets; readonly revision: number } | undefined>;
  /** The change that stores secrets if their document still has this revision. */
  toPut(path: CredentialPath, secrets: Secrets, ifRevision?: number): Promise<DocumentChange>;
}

/** Creates the secret box. `openSealer` creates the master key on first use, if this server may create one. */
export function createSecretBox({ documents }: Pick<Store, 'documents'>, openSealer: () => Promise<Sealer>): SecretBox {
  return {
    read: async ({ workspaceId, vaultId, id }) => {
      const document = await documents.get(SECRET, id);
      if (document === undefined) return undefined;
      const { revision, data } = toStored<StoredSecret>(document);
      // Uses the names of the path, not of the row, so that a row that was moved to another path cannot be opened.
      const text = (await openSealer()).open(data.sealed, toNames(workspaceId, vaultId, id));
      // Only `toPut` seals with these names.
      return { secrets: JSON.parse(text) as Secrets, revision };
    },
    toPut: async ({ workspaceId, vaultId, id }, secrets, ifRevision = 0) => {
      const sealed = (await openSealer()).seal(JSON.stringify(secrets), toNames(workspaceId, vaultId, id));
      const data: StoredSecret = { workspaceId, vaultId, sealed };
      return { type: 'put', kind: SECRET, id, data, ifRevision };
    },
  };
}
