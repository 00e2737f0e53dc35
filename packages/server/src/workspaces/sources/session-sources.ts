import type {
  DirectoryResource,
  DirectoryResourceParams,
  SourceResource,
  SourceResourceParams,
} from '@fleetloom/protocol/managed-agents';
import { requestError } from '../../base/request-error.ts';
import type { SessionResources } from '../../files/session-resources.ts';
import type { RepositorySources } from '../repository-sources.ts';
import type { InPlaceLocks } from './in-place-locks.ts';
import { type PlanOptions, planDirectory } from './plan-directory.ts';

/** Checks and stores the sources of the workspaces of new sessions. */
export interface SessionSources {
  /** Checks a source and stores it for a session that is about to be created. Throws request errors. */
  add(session: NewSession, params: readonly SourceResourceParams[]): Promise<readonly SourceResource[]>;
  /** Checks sources of sessions that may be created later. Stores nothing. Throws request errors. */
  check(workspaceId: string, params: readonly SourceResourceParams[]): Promise<void>;
  /** Stores the sources of the session `from` for a fork of it, which begins with the same commits. */
  addAgain(session: NewSession, from: string, sources: readonly SourceResource[]): Promise<readonly SourceResource[]>;
}

/** A session that is about to be created. */
export interface NewSession {
  readonly workspaceId: string;
  readonly sessionId: string;
}

/** The dependencies of {@link createSessionSources}. */
export interface SessionSourcesOptions extends PlanOptions {
  readonly resources: Pick<SessionResources, 'addSource'>;
  readonly repositories: RepositorySources;
  readonly locks: InPlaceLocks;
  /** Binds the session to this node, whose directory it works on. */
  readonly settle?: ((sessionId: string) => Promise<void>) | undefined;
}

/** Creates the service. */
export function createSessionSources(options: SessionSourcesOptions): SessionSources {
  const add = async (session: NewSession, params: readonly SourceResourceParams[]) => {
    const { directory, repositories } = split(params);
    if (directory !== undefined) return [await addDirectory(session, directory)];
    return repositories.length === 0 ? [] : await options.repositories.add(toPlace(session), repositories);
  };
  return {
    add,
    check: async (workspaceId, params) => {
      const { directory, repositories } = split(params);
      if (directory !== undefined) await planDirectory(options, directory, 'sesn_none');
      if (repositories.length > 0) await options.repositories.check(workspaceId, repositories);
    },
    addAgain: async (session, from, sources) => {
      const repositories = sources.filter((each) => each.type !== 'directory');
      if (repositories.length > 0) {
        return await options.repositories.addAgain(toPlace(session), { sessionId: from, repositories });
      }
      return await add(session, sources.filter((each) => each.type === 'directory').map(toAgain));
    },
  };

  function toPlace({ workspaceId, sessionId }: NewSession) {
    return { workspaceId, sessionId, resources: options.resources };
  }

  async function addDirectory(session: NewSession, params: DirectoryResourceParams): Promise<DirectoryResource> {
    const planned = await planDirectory(options, params, session.sessionId);
    if (planned.mode === 'in_place') await options.locks.acquire(session, planned.path);
    await options.settle?.(session.sessionId);
    return await options.resources.addSource<DirectoryResource>(session.sessionId, planned);
  }
}

/** Splits sources by type. Throws unless they are either one directory or only repositories. */
function split(params: readonly SourceResourceParams[]) {
  const directories = params.filter((each) => each.type === 'directory');
  const repositories = params.filter((each) => each.type !== 'directory');
  if (directories.length + Math.min(repositories.length, 1) <= 1) return { directory: directories[0], repositories };
  const advice = 'create a session for each';
  throw requestError('invalid_request', 'resources: a directory is the whole workspace of a session', { advice });
}

/** The parameters of the directory of a fork. Two sessions cannot work on a directory in place, so a fork gets a worktree or a copy. */
function toAgain(source: DirectoryResource): DirectoryResourceParams {
  const { type, path, mode, commit, copy, setup } = source;
  if (mode === 'read_only') return { type, path, mode };
  const isWorktree = mode === 'worktree' || (mode === 'in_place' && commit !== null);
  return isWorktree ? { type, path, mode: 'worktree', base: commit, copy, setup } : { type, path, mode: 'copy', setup };
}
