import type { KeyUse } from '../../../keys/sealed-rows.ts';
import type { SecretKeys } from '../../../vaults/secret-keys.ts';
import { type AnyRoute, defineRoute } from '../../routing/route.ts';
import { secretsStatus } from '../../schemas/vault.ts';

/** `/v1/fleet/secrets`: which master keys have encrypted the stored secrets, and their rotation. No key is in a response. */
export function createSecretsRoutes(keys: SecretKeys): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'fleet.secrets',
      summary: 'Count the stored secrets by the master key that encrypted them',
      method: 'get',
      path: '/v1/fleet/secrets',
      accepts: ['api'],
      gives: secretsStatus,
      handle: async () => toStatus(keys, await keys.count()),
    }),
    defineRoute({
      name: 'fleet.secrets.rotate',
      summary: 'Encrypt some secrets of older master keys with the current one; repeat it until none is left',
      method: 'post',
      path: '/v1/fleet/secrets/rotate',
      accepts: ['api'],
      gives: secretsStatus,
      handle: async ({ audit }) => {
        const { use, rewrapped, unopened } = await keys.rewrap(audit);
        return { ...toStatus(keys, use), rewrapped, unopened };
      },
    }),
  ];
}

function toStatus(keys: SecretKeys, use: KeyUse) {
  const { keyId = null, keyIds } = keys.current();
  const ids = [...new Set([...keyIds, ...use.keys()])];
  return {
    type: 'secrets_status' as const,
    key_id: keyId,
    keys: ids.map((id) => ({ id, secrets: use.get(id) ?? 0, is_known: keyIds.includes(id) })),
  };
}
