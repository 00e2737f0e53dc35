import { requestError } from '../../base/request-error.ts';
import { describePaths } from './apply-conflict.ts';
import type { FileChange } from '../snapshots/diff-trees.ts';
import { describeMergeConflict, toHunks } from './describe-conflicts.ts';
import type { MergeConflict } from '../snapshots/merge-trees.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { findPoint } from './find-point.ts';
import type { WorkspaceFrame } from './history.ts';
import { changesLimits } from './limits.ts';
import { selectWorkspace } from './select-workspace.ts';

/** The files that a merge of the recorded changes of a thread would write. Throws a request error on conflicts, and if nothing can be merged. */
export async function planMerge(
  snapshots: Pick<Snapshots, 'mergeTrees' | 'diffTrees'>,
  sessionId: string,
  { frames, threadId }: { readonly frames: readonly WorkspaceFrame[]; readonly threadId: string },
): Promise<readonly FileChange[]> {
  const own = selectWorkspace(frames, threadId);
  const began = own.frames.findLast(
    (frame) => frame.type === 'workspace.isolated' || frame.type === 'workspace.discarded',
  );
  if (own.owner === null || began?.type !== 'workspace.isolated') {
    const problem = `${threadId} has no worktree of its own in ${sessionId}`;
    throw requestError('not_applicable', problem, {
      advice: 'GET /v1/sessions/{session_id}/changes lists them in `worktrees`',
    });
  }
  const merged = frames.findLast(
    ({ seq, type, payload }) =>
      seq > began.seq &&
      type === 'workspace.merge_ended' &&
      payload.session_thread_id === threadId &&
      payload.is_merged,
  );
  const base = merged?.type === 'workspace.merge_ended' ? merged.payload.merged : began.payload.tree;
  const theirs = findPoint(own.frames)!.payload.tree;
  const into = selectWorkspace(frames, began.payload.from_session_thread_id ?? undefined);
  const ours = findPoint(into.frames)!.payload.tree;
  const outcome = await snapshots.mergeTrees(sessionId, { base, ours, theirs });
  if (outcome.type === 'conflicts') throw mergeConflict(threadId, outcome.files);
  return await snapshots.diffTrees(sessionId, ours, outcome.tree);
}

function mergeConflict(threadId: string, conflicts: readonly MergeConflict[]) {
  const names = describePaths(conflicts.map(({ path }) => path));
  const problem = `the changes of ${threadId} conflict with the workspace in ${names}, and nothing was written`;
  return requestError('merge_conflict', problem, {
    details: {
      files: conflicts.slice(0, changesLimits.conflictsMax).map((each) => ({
        path: each.path,
        reason: each.reason,
        places: each.places ?? null,
        hunks: toHunks(each),
        text: describeMergeConflict(each),
      })),
      files_count: conflicts.length,
    },
  });
}
