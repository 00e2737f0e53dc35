import type { OpenedEgress } from './open-egress.ts';
import type { OpenedPreparation } from './open-preparation.ts';
import type { ServerStorage } from '../server-storage.ts';

/** The mounts of a session's sandboxes in addition to its workspace, or to the worktree of a thread. */
export function createMounts(
  {
    workspaces,
    threadWorkspaces,
    repositories,
  }: Pick<ServerStorage, 'workspaces' | 'threadWorkspaces' | 'repositories'>,
  egress: Pick<OpenedEgress, 'open'>,
  preparation: Pick<OpenedPreparation, 'findPackages'>,
) {
  return async (sessionId: string, worktreeOwner: string | null = null) => {
    const [mounts, gitRelay, opened, packages] = await Promise.all([
      worktreeOwner === null ? workspaces.mountsOf(sessionId) : threadWorkspaces.mountsOf(sessionId, worktreeOwner),
      repositories.openRelay(sessionId),
      egress.open(sessionId),
      preparation.findPackages(sessionId),
    ]);
    return { ...mounts, gitRelay, egress: opened, packages };
  };
}
