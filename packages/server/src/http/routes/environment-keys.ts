import { z } from 'zod';
import type { Environments } from '../../environments/environments.ts';
import type { StoredKey } from '../../keys/key-file.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { requestError } from '../../base/request-error.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import { moment, name } from '../schemas/common.ts';

/** The environments of the keys, and where keys are stored. */
export interface EnvironmentKeyRoutesOptions {
  readonly environments: Environments;
  /** The API keys; undefined if the server needs no key, and workers may send any. */
  readonly keys: KeyStore | undefined;
}

/**
 * `/v1/environments/{environment_id}/keys`: keys for workers, which serve one environment and can do nothing else. The
 * hosted service has them in its console only, so these paths are specific to Fleetloom.
 */
export function createEnvironmentKeyRoutes({ environments, keys }: EnvironmentKeyRoutesOptions): readonly AnyRoute[] {
  const path = '/v1/environments/{environment_id}/keys' as const;
  return [
    defineRoute({
      name: 'environment_keys.create',
      summary: 'Create a key for workers of an environment; only this response contains its secret',
      method: 'post',
      path,
      accepts: ['api'],
      body: z.strictObject({ name: name.exactOptional() }),
      gives: environmentKey,
      handle: async ({ credential: { workspaceId }, params: { environment_id: environmentId }, body, audit }) => {
        await environments.get(workspaceId, environmentId);
        const given = { kind: 'environment', name: body.name ?? 'worker', workspaceId, environmentId } as const;
        const { key, secret } = await opened(keys).create(given, audit);
        return { ...show(key), secret };
      },
    }),
    defineRoute({
      name: 'environment_keys.list',
      summary: 'List the keys of an environment, without their secrets',
      method: 'get',
      path,
      accepts: ['api'],
      gives: z.strictObject({ data: z.array(environmentKey) }),
      handle: async ({ credential: { workspaceId }, params: { environment_id: environmentId } }) => {
        await environments.get(workspaceId, environmentId);
        return { data: (await mine(workspaceId, environmentId)).map(show) };
      },
    }),
    defineRoute({
      name: 'environment_keys.revoke',
      summary: 'Revoke a key of an environment',
      method: 'delete',
      path: `${path}/{key_id}`,
      accepts: ['api'],
      gives: z.strictObject({ type: z.literal('environment_key_deleted'), id: z.string() }),
      handle: async ({ credential: { workspaceId }, params, audit }) => {
        const { environment_id: environmentId, key_id: id } = params;
        const isMine = (await mine(workspaceId, environmentId)).some((key) => key.id === id);
        if (!isMine || !(await opened(keys).revoke(id, audit)))
          throw requestError('unknown_id', `${id} does not exist`);
        return { type: 'environment_key_deleted', id };
      },
    }),
  ];

  async function mine(workspaceId: string, environmentId: string): Promise<readonly StoredKey[]> {
    const all = await opened(keys).list();
    return all.filter(
      (key) => key.kind === 'environment' && key.workspaceId === workspaceId && key.environmentId === environmentId,
    );
  }
}

const environmentKey = z
  .strictObject({
    type: z.literal('environment_key'),
    id: z.string(),
    name: z.string(),
    created_at: moment,
    /** The secret, only in the response that creates the key. */
    secret: z.string().exactOptional(),
  })
  .meta({ id: 'EnvironmentKey' });

function show({ id, name: called, createdAt }: StoredKey) {
  return { type: 'environment_key', id, name: called, created_at: new Date(createdAt).toISOString() };
}

function opened(keys: KeyStore | undefined): KeyStore {
  if (keys !== undefined) return keys;
  const advice = 'give workers any key: this server does not check keys';
  throw requestError('invalid_request', 'this server has no keys', { advice });
}
