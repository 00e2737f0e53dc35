import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GithubRepositoryResource, GitRepositoryResource } from '@fleetloom/protocol/managed-agents';
import { onTestFinished } from 'vitest';
import { openSocketDirectory } from '../../base/files/open-socket-directory.ts';
import type { RepositoryProblem } from '../../frames/payload-parts.ts';
import { createMemoryStore } from '../../store/memory/memory-store.ts';
import { HostResolver } from '../../tools/network/host-resolver.ts';
import type { SetupResult } from '../workspace-source.ts';
import { createGit } from '../git/run-git.ts';
import { workspaceLimits } from '../limits.ts';
import { createSessionRelays } from '../relay/session-relays.ts';
import { createSetupRunner } from '../sources/run-setup.ts';
import { createAllowedDirectories } from '../sources/allowed-directories.ts';
import type { CloneCache } from './clone-cache.ts';
import type { CloneLimits } from './clone-source.ts';
import { toGitHosts } from '../relay/git-hosts.ts';
import { createRepositories, type PreparedRepositories, type Repositories } from './repositories.ts';
import { createRepositoryTokens, type RepositoryTokens } from './repository-tokens.ts';

/** The repositories of one session, without a server. */
export interface RepositoriesBench {
  readonly repositories: Repositories;
  readonly tokens: RepositoryTokens;
  readonly resources: (GithubRepositoryResource | GitRepositoryResource)[];
  readonly root: string;
  readonly workspace: string;
  /** The directory below which clones are created. */
  readonly directory: string;
  readonly problems: unknown[];
  /** The sessions for which work was run in turn, in order. */
  readonly turns: string[];
  /** The logged results of setup commands. */
  readonly setups: SetupResult[];
  /** Adds a repository to the session. */
  add(type: 'github_repository' | 'git_repository', url: string, mountPath?: string, setup?: string): string;
  prepare(signal?: AbortSignal): Promise<readonly RepositoryProblem[]>;
  prepareAll(signal?: AbortSignal): Promise<PreparedRepositories>;
}

export const SESSION = 'sesn_bench';

/** Opens repositories with real clones. */
export function openRepositoriesBench(
  gitHosts: readonly string[],
  changed: Partial<CloneLimits> = {},
  { cache, allowsUnsandboxed = true }: { readonly cache?: CloneCache; readonly allowsUnsandboxed?: boolean } = {},
): RepositoriesBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'fleetloom-repositories-')));
  const [workspace, directory] = [join(root, 'workspaces', SESSION), join(root, 'workspaces', '.clones')];
  mkdirSync(workspace, { recursive: true });
  const hosts = toGitHosts(gitHosts);
  const upstream = { hosts, resolveHost: new HostResolver().forSession() };
  // Does not encrypt: other tests verify that a store has only sealed text.
  const sealer = { seal: (text: string) => text, open: (text: string) => text };
  const tokens = createRepositoryTokens(createMemoryStore(), async () => sealer);
  const resources: RepositoriesBench['resources'] = [];
  const problems: unknown[] = [];
  const setups: SetupResult[] = [];
  const turns: string[] = [];
  const relays = createSessionRelays(openSocketDirectory(join(root, 'sockets')), { push: 'no-delete', ...upstream });
  const directories = createAllowedDirectories([join(root, 'allowed')], '/nonexistent');
  const repositories = createRepositories({
    clone: { git: createGit('git'), directories, limits: { ...workspaceLimits, ...changed }, cache, ...upstream },
    relays,
    tokens,
    credentials: { read: async () => undefined },
    listResources: async () => resources,
    directory,
    runSetup: createSetupRunner({
      openSandbox: async () => ({ type: 'unavailable', reason: 'the test has none' }),
      allowsUnsandboxed,
    }),
    inTurn: async (sessionId, signal, work) => {
      turns.push(sessionId);
      return signal.aborted ? undefined : { result: await work() };
    },
    onProblem: (problem) => problems.push(problem),
  });
  const prepareAll = async (signal = new AbortController().signal) =>
    await repositories.prepare(
      SESSION,
      async () => workspace,
      signal,
      async (setup) => void setups.push(setup),
    );
  onTestFinished(async () => {
    await repositories.close();
    rmSync(root, { recursive: true, force: true });
  });
  return {
    repositories,
    tokens,
    resources,
    root,
    workspace,
    directory,
    problems,
    setups,
    turns,
    add: (type, url, mountPath = '/workspace/app', setup?: string) => {
      const id = `sesrsc_${resources.length + 1}`;
      const common = { id, url, mount_path: mountPath, checkout: null, created_at: '', updated_at: '' };
      const more = setup === undefined ? {} : { setup };
      resources.push(
        type === 'git_repository' ? { type, ...common, ...more, credential_id: null } : { type, ...common, ...more },
      );
      return id;
    },
    prepare: async (signal) => (await prepareAll(signal)).problems,
    prepareAll,
  };
}
