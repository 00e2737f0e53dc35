import type { SealedKind } from '../keys/sealed-rows.ts';
import { SECRET, type StoredSecret, toNames, toStored } from './stored.ts';

/** The documents of vaults that have secrets. */
export const vaultSecrets: SealedKind = {
  kind: SECRET,
  fieldsOf: (document) => {
    const { id, data } = toStored<StoredSecret>(document);
    return [{ field: 'sealed', names: toNames(data.workspaceId, data.vaultId, id) }];
  },
};
