import type { FramePayloads } from '../../frames/frames.ts';
import type { FileChange } from '../../workspaces/snapshots/diff-trees.ts';
import type { MergeConflict } from '../../workspaces/snapshots/merge-trees.ts';
import type { RecordCause } from '../../workspaces/snapshots/recorder-options.ts';
import type { WorkspaceRecorder, WrittenTrees } from '../../workspaces/snapshots/recorder.ts';
import type { WorkspaceChange } from '../../workspaces/snapshots/workspace-change.ts';
import type { Command } from '../core/command.ts';
import { sessionLimits } from '../core/limits.ts';
import { type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';
import { recordedTreeOf, worktreeOwnerOf } from '../core/state/workspace-of.ts';

/** What a merge needs. A worktree is named by the thread that owns it; null is the workspace of the session. */
export interface MergeParts {
  readonly state: SessionState;
  /** Prepares a workspace and returns its recorder. */
  readonly open: (owner: ThreadState | null) => Promise<WorkspaceRecorder>;
  /** Records a workspace and logs the changes. */
  readonly log: (owner: ThreadState | null, cause: RecordCause) => Promise<void>;
  /** Records a workspace and returns its change for the log. */
  readonly record: (owner: ThreadState | null, cause: RecordCause) => Promise<WorkspaceChange | undefined>;
  readonly dispatch: (command: Command, change?: WorkspaceChange) => Promise<void>;
}

/** Which changes to merge, and on whose behalf. */
export interface MergeRequest {
  readonly threadId: string;
  /** The call of `merge_changes`; null if a person asked for it. */
  readonly toolUseId: string | null;
  /** The name of the key of the person who asked for the merge; null for a call. */
  readonly by: string | null;
}

/** How a merge ended. Unless it is `merged`, no file was changed. */
export type MergeReport =
  | { readonly type: 'merged'; readonly files: readonly FileChange[] }
  /** All changes had been merged before. */
  | { readonly type: 'nothing' }
  | { readonly type: 'conflicts'; readonly files: readonly MergeConflict[] }
  | { readonly type: 'failed'; readonly reason: string };

/**
 * Merges the changes of a thread in its own worktree into the workspace that the worktree was made from. Conflicts are found before the
 * first file is written, and the changes are logged before they are written, so that a crash leaves all of them or none.
 */
export async function mergeFiles(parts: MergeParts, request: MergeRequest): Promise<MergeReport> {
  const { state } = parts;
  const { threadId, toolUseId } = request;
  const thread = threadOf(state, threadId);
  const target = worktreeOwnerOf(state, thread.parentId);
  const into = await parts.open(target);
  await parts.open(thread);
  await parts.log(thread, { type: 'turn', threadId });
  let conflicts: readonly MergeConflict[] = [];
  for (let attempt = 0; attempt < sessionLimits.mergeAttemptsMax; attempt++) {
    const { merged: base, tree: theirs } = thread.isolation!;
    if (base === null || theirs === null || theirs === base) return { type: 'nothing' };
    const paths = (await into.diff({ from: base, tree: theirs })).map(({ path }) => path);
    // Also files that are ignored: one of them in the place of a merged file is a conflict.
    await parts.log(target, { type: 'turn', threadId: toolUseId === null ? null : thread.parentId, paths });
    const ours = recordedTreeOf(state, target)!;
    const outcome = await into.merge({ base, ours, theirs });
    if (outcome.type === 'conflicts') return outcome;
    const trees = { from: ours, tree: outcome.tree };
    conflicts = await into.findObstacles(trees);
    // A file may have changed since it was recorded.
    if (conflicts.length > 0) continue;
    return await write(parts, { target, into, trees }, toMerge(request, theirs));
  }
  return { type: 'conflicts', files: conflicts };
}

/** After a crash: finishes a merge whose files may be written in part. */
export async function resumeMerge(parts: MergeParts): Promise<void> {
  const { merging } = parts.state;
  if (merging === null) return;
  const { threadId, from, tree, merged, toolUseId, by } = merging;
  const target = worktreeOwnerOf(parts.state, threadOf(parts.state, threadId).parentId);
  const merge = toMerge({ threadId, toolUseId, by }, merged);
  try {
    const into = await parts.open(target);
    await into.replace({ from, tree });
    await end(parts, { target, into, trees: { from, tree } }, merge);
  } catch {
    // The disk is lost or full. The files of the thread are recorded, and can be merged again.
    await parts.dispatch({ type: 'merge_ended', merge: { ...merge, is_merged: false } });
  }
}

type Merge = Omit<FramePayloads['workspace.merge_ended'], 'id' | 'is_merged'>;

function toMerge({ threadId, toolUseId, by }: MergeRequest, merged: string): Merge {
  return { session_thread_id: threadId, merged, tool_use_id: toolUseId, ...(by === null ? {} : { by }) };
}

interface MergeTarget {
  readonly target: ThreadState | null;
  readonly into: WorkspaceRecorder;
  readonly trees: WrittenTrees;
}

async function write(parts: MergeParts, target: MergeTarget, merge: Merge): Promise<MergeReport> {
  const { into, trees } = target;
  const files = await into.diff(trees);
  if (files.length === 0) {
    await parts.dispatch({ type: 'merge_ended', merge: { ...merge, is_merged: true } });
    return { type: 'merged', files };
  }
  await parts.dispatch({ type: 'merge_started', merge: { ...merge, ...trees } });
  const failed = await replaceAll(target);
  if (failed !== undefined) {
    await parts.dispatch({ type: 'merge_ended', merge: { ...merge, is_merged: false } });
    return failed;
  }
  await end(parts, target, merge);
  return { type: 'merged', files };
}

/** Writes all files. If one of them cannot be written, the others are restored. */
async function replaceAll({ into, trees: { from, tree } }: MergeTarget): Promise<MergeReport | undefined> {
  const undo = async () => await into.replace({ from: tree, tree: from });
  try {
    const left = await into.replace({ from, tree });
    if (left.length === 0) return undefined;
    await undo();
    return { type: 'conflicts', files: left.map((path) => ({ path, reason: 'kind' })) };
  } catch (error) {
    await undo();
    return { type: 'failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Records the merged files alone, so that other changes are attributed to the calls that made them. */
async function end(parts: MergeParts, { target, into, trees }: MergeTarget, merge: Merge): Promise<void> {
  const { tool_use_id: toolUseId, session_thread_id: threadId } = merge;
  const parentId = threadOf(parts.state, threadId).parentId!;
  const written = (await into.diff(trees)).map(({ path }) => path);
  // A tool cannot have named a path that is not UTF-8: then everything is recorded.
  const paths = written.some((path) => path.includes('\\')) ? null : written;
  const call = { threadId: parentId, toolUseId: toolUseId ?? `merge ${threadId}` };
  into.begin({ ...call, paths });
  const change = await parts.record(target, { type: 'tool', ...call });
  await parts.dispatch(
    { type: 'merge_ended', merge: { ...merge, is_merged: true } },
    change && toMerged(change, merge),
  );
}

/** Marks the change as one of the merge, unless other calls may have made it too. */
function toMerged(change: WorkspaceChange, { tool_use_id: toolUseId, by }: Merge): WorkspaceChange {
  const { payload } = change;
  if (payload.candidates !== undefined) return change;
  return {
    ...change,
    payload: { ...payload, cause: 'merge', tool_use_id: toolUseId, ...(by === undefined ? {} : { by }) },
  };
}
