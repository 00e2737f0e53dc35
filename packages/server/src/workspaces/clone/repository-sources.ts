import type { GithubRepositoryResource, GitRepositoryResource } from '@fleetloom/protocol/managed-agents';
import { requestError } from '../../base/request-error.ts';
import { checkMountPaths, checkRepository, type RepositoryRules } from './check-repository.ts';
import type {
  RepositoriesAt,
  RepositoryResource,
  RepositoryResourceParams,
  RepositorySources,
} from '../repository-sources.ts';
import type { RepositoryTokens } from './repository-tokens.ts';

/** Creates the check of repositories. */
export function createRepositorySources(rules: RepositoryRules, tokens: RepositoryTokens): RepositorySources {
  const plan = async (params: readonly RepositoryResourceParams[]) => {
    const planned = await Promise.all(
      params.map(async (each) => ({ params: each, checked: await checkRepository(each, rules) })),
    );
    checkMountPaths(planned.map(({ checked }) => checked.mount_path));
    return planned;
  };
  const add = async ({ sessionId, resources }: RepositoriesAt, params: readonly RepositoryResourceParams[]) => {
    const planned = await plan(params);
    const added: RepositoryResource[] = [];
    for (const { params: each, checked } of planned) {
      const resource =
        each.type === 'github_repository'
          ? await resources.addSource<GithubRepositoryResource>(sessionId, { type: each.type, ...checked })
          : await resources.addSource<GitRepositoryResource>(sessionId, {
              type: each.type,
              ...checked,
              credential_id: null,
            });
      const token = each.type === 'github_repository' ? each.authorization_token : undefined;
      if (token !== undefined) await tokens.put(sessionId, { [resource.id]: token });
      added.push(resource);
    }
    return added;
  };
  return {
    add,
    check: async (params) => void (await plan(params)),
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

/** What a client would send to get the same repository. */
function toParams(resource: RepositoryResource, token: string | undefined): RepositoryResourceParams {
  const { type, url, mount_path, checkout = null } = resource;
  if (type === 'git_repository') return { type, url, checkout, mount_path };
  return { type, url, checkout, mount_path, ...(token === undefined ? {} : { authorization_token: token }) };
}
