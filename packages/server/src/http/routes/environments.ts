import type { Environments } from '../../environments/environments.ts';
import type { KeyStore } from '../auth/key-store.ts';
import { toPageRequest, toWirePage, wirePage } from '../paging.ts';
import { type AnyRoute, defineRoute } from '../route.ts';
import {
  deletedEnvironment,
  environment,
  environmentCreateBody,
  environmentListQuery,
  environmentUpdateBody,
} from '../schemas/environment.ts';

/** `/v1/environments`, without the queue of work. `keys`: undefined where everybody is let in. */
export function createEnvironmentRoutes(environments: Environments, keys?: KeyStore): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'environments.create',
      summary: 'Create an environment',
      method: 'post',
      path: '/v1/environments',
      accepts: ['api'],
      body: environmentCreateBody,
      gives: environment,
      handle: ({ credential, body }) => environments.create(credential.workspaceId, body),
    }),
    defineRoute({
      name: 'environments.list',
      summary: 'List environments, the newest first',
      method: 'get',
      path: '/v1/environments',
      accepts: ['api'],
      query: environmentListQuery,
      gives: wirePage(environment),
      handle: async ({ credential: { workspaceId }, query }) => {
        const request = { ...toPageRequest(query), workspaceId, includeArchived: query.include_archived };
        return toWirePage(await environments.list(request));
      },
    }),
    defineRoute({
      name: 'environments.retrieve',
      summary: 'Read an environment',
      method: 'get',
      path: '/v1/environments/{environment_id}',
      // Workers look at the environment that they serve.
      accepts: ['api', 'environment'],
      gives: environment,
      handle: ({ credential, params }) => environments.get(credential.workspaceId, params.environment_id),
    }),
    defineRoute({
      name: 'environments.update',
      summary: 'Change an environment',
      method: 'post',
      path: '/v1/environments/{environment_id}',
      accepts: ['api'],
      body: environmentUpdateBody,
      gives: environment,
      handle: ({ credential, params, body }) =>
        environments.update(credential.workspaceId, params.environment_id, body),
    }),
    defineRoute({
      name: 'environments.archive',
      summary: 'Archive an environment',
      method: 'post',
      path: '/v1/environments/{environment_id}/archive',
      accepts: ['api'],
      gives: environment,
      handle: ({ credential, params }) => environments.archive(credential.workspaceId, params.environment_id),
    }),
    defineRoute({
      name: 'environments.delete',
      summary: 'Delete an environment',
      method: 'delete',
      path: '/v1/environments/{environment_id}',
      accepts: ['api'],
      gives: deletedEnvironment,
      handle: async ({ credential: { workspaceId }, params: { environment_id: id } }) => {
        await environments.get(workspaceId, id);
        // First: a crash in between leaves an environment without keys, and not keys that nobody can revoke.
        await revokeKeys(workspaceId, id);
        return await environments.delete(workspaceId, id);
      },
    }),
  ];

  async function revokeKeys(workspaceId: string, environmentId: string): Promise<void> {
    for (const key of (await keys?.list()) ?? []) {
      const isOfIt = key.kind === 'environment' && key.environmentId === environmentId;
      if (isOfIt && key.workspaceId === workspaceId) await keys?.revoke(key.id);
    }
  }
}
