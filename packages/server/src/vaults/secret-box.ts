import type { Sealer } from '../keys/sealer.ts';
import type { DocumentChange, Store } from '../store/store.ts';
import { type CredentialPath, SECRET, type Secrets, type StoredSecret, toNames, toStored } from './stored.ts';

/** The secrets of credentials, which are stored sealed and nowhere else. */
export interface SecretBox {
  /** Undefined if they were erased. Throws if they were sealed for another place or with an unknown key. */
  read(path: CredentialPath): Promise<{ readonly secrets: Secrets; readonly revision: number } | undefined>;
  /** The change that stores them, at this revision. */
  toPut(path: CredentialPath, secrets: Secrets, ifRevision?: number): Promise<DocumentChange>;
}

/** `openSealer` makes the master key on first need, where this server may make one. */
export function createSecretBox({ documents }: Pick<Store, 'documents'>, openSealer: () => Promise<Sealer>): SecretBox {
  return {
    read: async ({ workspaceId, vaultId, id }) => {
      const document = await documents.get(SECRET, id);
      if (document === undefined) return undefined;
      const { revision, data } = toStored<StoredSecret>(document);
      // The names are those of the path and not of the row, so that a row that was moved does not open.
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
