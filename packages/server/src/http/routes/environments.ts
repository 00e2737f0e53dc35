import type { EnvironmentResource } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../../base/request-error.ts';
import type { Environments } from '../../environments/environments.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import type { Auditor } from '../../store/audit.ts';
import type { SessionSources } from '../../workspaces/sources/session-sources.ts';
import { toPageRequest, toWirePage, wirePage } from '../paging/paging.ts';
import { type AnyRoute, defineRoute } from '../routing/route.ts';
import {
  deletedEnvironment,
  environment,
  environmentCreateBody,
  environmentListQuery,
  environmentUpdateBody,
} from '../schemas/environment.ts';

/** Throws a request error if a resource cannot be a default of sessions here. */
export type CheckResources = (workspaceId: string, resources: readonly EnvironmentResource[]) => Promise<void>;

/** `/v1/environments`, without the queue of work. `keys`: undefined if the server needs no key. */
export function createEnvironmentRoutes(
  environments: Environments,
  keys?: KeyStore,
  checkResources?: CheckResources,
): readonly AnyRoute[] {
  return [
    defineRoute({
      name: 'environments.create',
      summary: 'Create an environment',
      method: 'post',
      path: '/v1/environments',
      accepts: ['api'],
      body: environmentCreateBody,
      gives: environment,
      handle: async ({ credential, body, audit }) => {
        await checkResources?.(credential.workspaceId, body.resources ?? []);
        return await environments.create(credential.workspaceId, body, audit);
      },
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
      // Workers read the environment that they serve.
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
      handle: async ({ credential, params, body, audit }) => {
        await checkResources?.(credential.workspaceId, body.resources ?? []);
        return await environments.update(credential.workspaceId, params.environment_id, body, audit);
      },
    }),
    defineRoute({
      name: 'environments.archive',
      summary: 'Archive an environment',
      method: 'post',
      path: '/v1/environments/{environment_id}/archive',
      accepts: ['api'],
      gives: environment,
      handle: ({ credential, params, audit }) =>
        environments.archive(credential.workspaceId, params.environment_id, audit),
    }),
    defineRoute({
      name: 'environments.delete',
      summary: 'Delete an environment',
      method: 'delete',
      path: '/v1/environments/{environment_id}',
      accepts: ['api'],
      gives: deletedEnvironment,
      handle: async ({ credential: { workspaceId }, params: { environment_id: id }, audit }) => {
        await environments.get(workspaceId, id);
        // Keys are revoked first: a crash in between leaves an environment without keys, not keys that can no longer be revoked.
        await revokeKeys(workspaceId, id, audit);
        return await environments.delete(workspaceId, id, audit);
      },
    }),
  ];

  async function revokeKeys(workspaceId: string, environmentId: string, audit: Auditor): Promise<void> {
    for (const key of (await keys?.list()) ?? []) {
      const isOfIt = key.kind === 'environment' && key.environmentId === environmentId;
      if (isOfIt && key.workspaceId === workspaceId) await keys?.revoke(key.id, audit);
    }
  }
}

/** Checks the default resources of an environment as those of a session are checked, before they are stored. */
export function createResourceCheck(sources: Pick<SessionSources, 'check'>): CheckResources {
  return async (workspaceId, resources) => {
    for (const [at, resource] of resources.entries()) {
      if (resource.type !== 'github_repository' || resource.authorization_token === undefined) continue;
      const problem = `resources[${at}].authorization_token: an environment does not store tokens`;
      const advice = 'leave it out, and send the repository with its token when you create a session';
      throw requestError('invalid_request', problem, { advice });
    }
    const others = resources.filter((each) => each.type !== 'file');
    await sources.check(workspaceId, others);
  };
}
