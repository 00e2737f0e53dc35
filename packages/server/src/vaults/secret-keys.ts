import type { KeyUse, Rewrapped } from '../keys/sealed-rows.ts';
import type { Sealer } from '../keys/sealer.ts';
import type { Auditor } from '../store/audit.ts';

/** The master keys of this server and their use, for operators. */
export interface SecretKeys {
  current(): Pick<Sealer, 'keyId' | 'keyIds'>;
  count(): Promise<KeyUse>;
  /** One step of a rotation. */
  rewrap(audit?: Auditor): Promise<Rewrapped>;
}
