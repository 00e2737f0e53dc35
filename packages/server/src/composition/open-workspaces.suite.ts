import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DirectoryResource, DirectoryResourceParams, MountedResource } from '@fleetloom/protocol/managed-agents';
import { systemClock } from '../base/clock.ts';
import { createTreeRemover } from '../base/files/remove-tree.ts';
import { createIds } from '../base/ids.ts';
import { createMemoryStore } from '../store/memory/memory-store.ts';
import type { SandboxState } from '../tools/sandbox/sandbox.ts';
import type { UserRepository } from '../workspaces/repository.suite.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { unusedRepositories } from '../workspaces/unused-repositories.suite.ts';
import { openWorkspaces, type OpenWorkspacesOptions } from './open-workspaces.ts';

/** The workspaces of a server without the server. */
export interface TestWorkspaces {
  readonly workspaces: Workspaces;
  readonly dataDirectory: string;
  /** Plans a workspace for a new session, and returns the id of the session. */
  readonly add: (params: Omit<DirectoryResourceParams, 'type'>) => Promise<string>;
  readonly resourceOf: (sessionId: string) => DirectoryResource;
  /** Opens workspaces on the same files again, as after a crash. */
  readonly again: (options?: TestWorkspacesOptions) => Promise<TestWorkspaces>;
}

/** How the workspaces of a test differ from those of a server. */
export interface TestWorkspacesOptions {
  readonly isSandboxed?: boolean;
  readonly userHome?: string;
  readonly wrapGit?: OpenWorkspacesOptions['wrapGit'];
}

/** Opens workspaces that may use the directory of a repository. */
export async function openTestWorkspaces(
  user: Pick<UserRepository, 'root'>,
  options: TestWorkspacesOptions = {},
): Promise<TestWorkspaces> {
  const dataDirectory = join(dirname(user.root), 'data');
  await mkdir(dataDirectory, { recursive: true });
  const stored = new Map<string, readonly MountedResource[]>();
  const store = createMemoryStore({ clock: systemClock });
  const ids = createIds({ now: Date.now, random: Math.random });
  const openSandbox = async (): Promise<SandboxState> => ({ type: 'unavailable', reason: 'the test has none' });

  const open = async ({
    isSandboxed = true,
    wrapGit,
    userHome,
  }: TestWorkspacesOptions = {}): Promise<TestWorkspaces> => {
    const problems: unknown[] = [];
    const { workspaces, toSources } = openWorkspaces({
      store,
      dataDirectory,
      directory: join(dataDirectory, 'workspaces'),
      stateDirectory: dataDirectory,
      resourceStore: {
        read: async (sessionId) => stored.get(sessionId) ?? [],
        readAll: async () => stored,
        change: async (sessionId, toNext) => void stored.set(sessionId, await toNext(stored.get(sessionId) ?? [])),
        remove: async (sessionId) => void stored.delete(sessionId),
      },
      repositorySources: unusedRepositories,
      remover: createTreeRemover({ onProblem: (problem) => problems.push(problem) }),
      allowedDirectories: [user.root],
      wrapGit,
      userHome,
      ...(isSandboxed ? {} : { openSandbox }),
    });
    const addSource = async (sessionId: string, source: object) => {
      const added = { ...source, id: ids.next('sesrsc'), created_at: '', updated_at: '' } as DirectoryResource;
      stored.set(sessionId, [added]);
      // The interface is generic, and only directories are added here.
      return added as never;
    };
    const sources = toSources({ addSource });
    return {
      workspaces,
      dataDirectory,
      add: async (params) => {
        const sessionId = ids.next('sesn');
        await sources.add({ workspaceId: 'wrkspc_default', sessionId }, [{ type: 'directory', ...params }]);
        return sessionId;
      },
      resourceOf: (sessionId) => stored.get(sessionId)![0] as DirectoryResource,
      again: open,
    };
  };
  return await open(options);
}
