import type {
  GithubRepositoryResource,
  GithubRepositoryResourceParams,
  GitRepositoryResource,
  GitRepositoryResourceParams,
  MountedResource,
} from '@fleetloom/protocol/managed-agents';
import type { SessionResources } from '../files/session-resources.ts';

/** A repository of a session. */
export type RepositoryResource = GithubRepositoryResource | GitRepositoryResource;

/** The parameters of a repository in a request. */
export type RepositoryResourceParams = GithubRepositoryResourceParams | GitRepositoryResourceParams;

/** Checks the repositories of sessions and keeps their tokens sealed. */
export interface RepositorySources {
  /** Stores repositories for a session that is about to be created. Throws request errors. */
  add(at: RepositoriesAt, params: readonly RepositoryResourceParams[]): Promise<readonly RepositoryResource[]>;
  /** Checks repositories without storing them. Throws request errors. */
  check(workspaceId: string, params: readonly RepositoryResourceParams[]): Promise<void>;
  /** Stores the repositories of a session again, for a fork of it. */
  addAgain(at: RepositoriesAt, from: ForkedRepositories): Promise<readonly RepositoryResource[]>;
  /** Replaces the token of a repository, from the next request to its host on. Throws a request error for another resource. */
  rotate(sessionId: string, resource: MountedResource, token: string): Promise<void>;
}

/** The session to which repositories are added. */
export interface RepositoriesAt {
  readonly workspaceId: string;
  readonly sessionId: string;
  readonly resources: Pick<SessionResources, 'addSource'>;
}

/** The forked session and its repositories. */
export interface ForkedRepositories {
  readonly sessionId: string;
  readonly repositories: readonly RepositoryResource[];
}
