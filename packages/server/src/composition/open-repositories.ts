import type { Clock } from '../base/clock.ts';
import { join } from 'node:path';
import { openSocketDirectory } from '../base/files/open-socket-directory.ts';
import type { ResourceStore } from '../files/resource-store.ts';
import type { Sealer } from '../keys/sealer.ts';
import type { Store } from '../store/store.ts';
import { findProgram } from '../tools/find-program.ts';
import { HostResolver } from '../tools/network/host-resolver.ts';
import { openBubblewrap } from '../tools/sandbox/bubblewrap.ts';
import { createSecretUses } from './credentials/secret-uses.ts';
import { createRepositoryCredentials } from '../vaults/repository-credentials.ts';
import { createSecretBox } from '../vaults/secret-box.ts';
import { toGitHosts } from '../workspaces/relay/git-hosts.ts';
import { createCloneCache } from '../workspaces/clone/clone-cache.ts';
import type { InTurn } from '../workspaces/clone/in-turn.ts';
import { createRepositories, type Repositories } from '../workspaces/clone/repositories.ts';
import { createRepositorySources } from '../workspaces/clone/repository-sources.ts';
import type { RepositorySources } from '../workspaces/repository-sources.ts';
import { createRepositoryTokens } from '../workspaces/clone/repository-tokens.ts';
import { createGitFinder } from '../workspaces/git/find-git.ts';
import { createOwnGit } from '../workspaces/git/own-git.ts';
import { workspaceLimits } from '../workspaces/limits.ts';
import type { GitPush } from '../workspaces/relay/git-proxy.ts';
import { createSetupRunner } from '../workspaces/sources/run-setup.ts';
import { createAllowedDirectories } from '../workspaces/sources/allowed-directories.ts';
import { createSessionRelays } from '../workspaces/relay/session-relays.ts';

/** What the repositories of a server need. */
export interface OpenRepositoriesOptions {
  readonly store: Pick<Store, 'documents' | 'sessions' | 'audit'>;
  readonly clock: Pick<Clock, 'steady'>;
  /** Opens the master key, and creates it at the first token. */
  readonly openSealer: () => Promise<Sealer>;
  readonly resourceStore: Pick<ResourceStore, 'read'>;
  readonly dataDirectory: string;
  readonly workspacesDirectory: string;
  readonly allowedDirectories?: readonly string[] | undefined;
  readonly gitHosts?: readonly string[] | undefined;
  readonly gitPush?: GitPush | undefined;
  readonly allowUnsandboxedBash?: boolean | undefined;
  /** Resolves the names of git hosts. */
  readonly resolver?: HostResolver | undefined;
  readonly inTurn: InTurn;
  readonly onProblem: (problem: unknown) => void;
}

/** Opens the repositories of sessions: their tokens, clones and relays. */
export async function openRepositories(
  options: OpenRepositoriesOptions,
): Promise<{ readonly repositories: Repositories; readonly repositorySources: RepositorySources }> {
  const { store, openSealer, resourceStore, dataDirectory, workspacesDirectory, onProblem } = options;
  const { allowUnsandboxedBash: allowsUnsandboxed = false } = options;
  const hosts = toGitHosts(options.gitHosts);
  const directories = createAllowedDirectories(options.allowedDirectories ?? [], dataDirectory);
  const tokens = createRepositoryTokens(store, openSealer);
  const uses = createSecretUses(store, options.clock);
  const credentials = createRepositoryCredentials({
    store,
    secrets: createSecretBox(store, openSealer),
    usesOf: (sessionId) => uses(sessionId, 'repository'),
  });
  const { resolver = new HostResolver() } = options;
  const upstream = { hosts, resolveHost: resolver.forSession() };
  const sockets = openSocketDirectory(join(dataDirectory, 'git-sockets'));
  await sockets.clear();
  const git = createOwnGit(createGitFinder());
  const cache = createCloneCache({ git, directory: join(dataDirectory, 'clone-cache') });
  const repositories = createRepositories({
    clone: { git, directories, limits: workspaceLimits, cache, ...upstream },
    relays: createSessionRelays(sockets, { push: options.gitPush ?? 'no-delete', ...upstream }),
    tokens,
    credentials,
    listResources: (sessionId) => resourceStore.read(sessionId),
    // On the disk of the workspaces, so that a clone can be moved into one of them. Session ids do not begin with a dot.
    directory: join(workspacesDirectory, '.clones'),
    runSetup: createSetupRunner({ openSandbox: () => openBubblewrap({ findProgram }), allowsUnsandboxed }),
    inTurn: options.inTurn,
    onProblem,
  });
  return { repositories, repositorySources: createRepositorySources({ hosts, directories }, tokens, credentials) };
}
