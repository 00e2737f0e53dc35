import { join } from 'node:path';
import { checkKeyUse, countKeyUse, type SealedKind } from '../../keys/sealed-rows.ts';
import { checkSecret } from '../../keys/sealed-secret.ts';
import { type MasterKeys, openMasterKeys } from '../../keys/master-key.ts';
import type { Store } from '../../store/store.ts';
import { flowSecrets } from '../../vaults/oauth/stored-flow.ts';
import { vaultSecrets } from '../../vaults/sealed-kinds.ts';
import { listSealedTokens, REPOSITORY_TOKENS } from '../../workspaces/clone/repository-tokens.ts';
import type { ServerOptions } from '../server-options.ts';

/** Every kind of document that has secrets of users. */
export const sealedKinds: readonly SealedKind[] = [
  vaultSecrets,
  flowSecrets,
  { kind: REPOSITORY_TOKENS, fieldsOf: listSealedTokens },
];

/** The sources of the master keys of a server. */
export interface OpenSecretsOptions {
  readonly options: Pick<ServerOptions, 'dataDirectory' | 'masterKey' | 'masterKeyFile' | 'olderMasterKeys'>;
  readonly store: Pick<Store, 'documents'>;
  readonly isShared: boolean;
  /** The secret with which nodes on one store encrypt shared values. */
  readonly secret: string | undefined;
}

/** Opens the master keys. Throws if secrets are stored that no key can decrypt: the server must not start then. */
export async function openSecrets({ options, store, isShared, secret }: OpenSecretsOptions): Promise<MasterKeys> {
  const { FLEETLOOM_MASTER_KEY: given, FLEETLOOM_MASTER_KEY_OLD: older } = process.env;
  const choice = {
    masterKey: options.masterKey ?? given,
    masterKeyFile: options.masterKeyFile,
    olderMasterKeys: options.olderMasterKeys ?? older,
  };
  const location = isShared
    ? { store, secret: checkSecret(secret) }
    : { file: join(options.dataDirectory, 'master-key') };
  const keys = await openMasterKeys(choice, location);
  checkKeyUse(await countKeyUse(store, sealedKinds), keys.peek());
  return keys;
}
