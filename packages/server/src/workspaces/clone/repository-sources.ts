import type { GithubRepositoryResource, GitRepositoryResource } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../../base/request-error.ts';
import { checkMountPaths, checkRepository, type RepositoryRules } from './check-repository.ts';
import type {
  RepositoriesAt,
  RepositoryResource,
  RepositoryResourceParams,
  RepositorySources,
} from '../repository-sources.ts';
import type { RepositoryCredentials } from './repository-credentials.ts';
import type { RepositoryTokens } from './repository-tokens.ts';

/** Creates the service that checks and stores the repositories of sessions. */
export function createRepositorySources(
  rules: RepositoryRules,
  tokens: RepositoryTokens,
  credentials: Pick<RepositoryCredentials, 'check'>,
): RepositorySources {
  const checkOne = async (workspaceId: string, each: RepositoryResourceParams) => {
    const checked = await checkRepository(each, rules);
    const credentialId = each.type === 'git_repository' ? (each.credential_id ?? null) : null;
    if (credentialId !== null) await credentials.check(workspaceId, credentialId, checked.url);
    return { params: each, checked, credentialId };
  };
  const plan = async (workspaceId: string, params: readonly RepositoryResourceParams[]) => {
    const planned = await Promise.all(params.map((each) => checkOne(workspaceId, each)));
    checkMountPaths(planned.map(({ checked }) => checked.mount_path));
    return planned;
  };
  const add = async (at: RepositoriesAt, params: readonly RepositoryResourceParams[]) => {
    const { workspaceId, sessionId, resources } = at;
    const planned = await plan(workspaceId, params);
    const added: RepositoryResource[] = [];
    for (const { params: each, checked, credentialId } of planned) {
      const setup = each.setup == null ? {} : { setup: each.setup };
      const resource =
        each.type === 'github_repository'
          ? await resources.addSource<GithubRepositoryResource>(sessionId, {
              type: each.type,
              ...checked,
              ...setup,
            })
          : await resources.addSource<GitRepositoryResource>(sessionId, {
              type: each.type,
              ...checked,
              ...setup,
              credential_id: credentialId,
            });
      const token = each.type === 'github_repository' ? each.authorization_token : undefined;
      if (token !== undefined) await tokens.put(sessionId, { [resource.id]: token });
      added.push(resource);
    }
    return added;
  };
  return {
    add,
    check: async (workspaceId, params) => void (await plan(workspaceId, params)),
    addAgain: async (at, { sessionId, repositories }) => {
      const read = (repository: RepositoryResource) => tokens.read(sessionId, repository.id);
      return await add(at, await Promise.all(repositories.map(async (each) => toParams(each, await read(each)))));
    },
    rotate: async (sessionId, { id, type }, token) => {
      if (type === 'github_repository') return await tokens.put(sessionId, { [id]: token });
      const advice = 'only the token of a github_repository can be replaced';
      throw requestError('invalid_request', `authorization_token: ${id} is a ${type}, which has none`, { advice });
    },
  };
}

/** The parameters with which a client would request the same repository. */
function toParams(resource: RepositoryResource, token: string | undefined): RepositoryResourceParams {
  const { url, mount_path, checkout = null, setup = null } = resource;
  if (resource.type === 'git_repository') {
    return { type: resource.type, url, checkout, mount_path, setup, credential_id: resource.credential_id };
  }
  return {
    type: resource.type,
    url,
    checkout,
    mount_path,
    setup,
    ...(token === undefined ? {} : { authorization_token: token }),
  };
}
