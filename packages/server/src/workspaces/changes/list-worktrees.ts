import type { ThreadWorktree } from '@fleetloom/protocol/fleet';
import type { Store } from '../../store/store.ts';
import { stateOf, readAgentName } from './list-changes.ts';
import type { WorkspaceFrame } from './history.ts';
import { changesLimits } from './limits.ts';
import { selectWorkspace } from './select-workspace.ts';

/** Lists the threads of a session that have worktrees of their own, with the counts of their unmerged changes. */
export async function listWorktrees(
  store: Pick<Store, 'threads'>,
  sessionId: string,
  frames: readonly WorkspaceFrame[],
): Promise<readonly ThreadWorktree[]> {
  const ids = new Set(
    frames.flatMap((each) => (each.type === 'workspace.isolated' ? [each.payload.session_thread_id] : [])),
  );
  // Sorted by id, which is the order of creation.
  const open = [...ids].sort().filter((id) => stateOf(selectWorkspace(frames, id).frames) === 'open');
  return await Promise.all(
    open.slice(-changesLimits.worktreesMax).map(async (id) => {
      const { files_count, lines_added, lines_removed } = findUnmerged(frames, id);
      const merged = frames.findLast((each) => isMerge(each, id));
      const made = frames.findLast(
        (each) => each.type === 'workspace.isolated' && each.payload.session_thread_id === id,
      );
      const branch = made?.type === 'workspace.isolated' ? made.payload.branch : null;
      const agent_name = await readAgentName(store, sessionId, id);
      const merged_at = merged === undefined ? null : new Date(merged.time).toISOString();
      return { session_thread_id: id, agent_name, branch, merged_at, files_count, lines_added, lines_removed };
    }),
  );
}

const NOTHING = { files_count: 0, lines_added: 0, lines_removed: 0 };

/** The counts of unmerged changes in the last frame about the worktree of a thread. */
function findUnmerged(frames: readonly WorkspaceFrame[], id: string) {
  const last = frames.findLast(
    (each) => (each.type === 'workspace.changed' && each.payload.workspace_thread_id === id) || isMerge(each, id),
  );
  return last?.type === 'workspace.changed' ? (last.payload.unmerged ?? NOTHING) : NOTHING;
}

function isMerge({ type, payload }: WorkspaceFrame, id: string): boolean {
  return type === 'workspace.merge_ended' && payload.session_thread_id === id && payload.is_merged;
}
