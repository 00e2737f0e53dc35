import type { FileCounts } from '@fleetloom/protocol/fleet';
import type { FramePayloads } from '../../frames/frames.ts';
import type { UnmergedChanges, WorkspaceChanged } from '../../frames/workspace-frames.ts';
import type { RecordedCall } from './call-intervals.ts';
import type { FileChange } from './diff-trees.ts';
import { snapshotLimits } from './objects/limits.ts';
import type { NotRecorded } from './not-recorded.ts';
import { toPathText } from './objects/path-text.ts';
import type { RecordCause } from './recorder-options.ts';

/** The payload of the frame `workspace.opened`: the workspace before the agents work in it. */
export type WorkspaceOpened = Omit<FramePayloads['workspace.opened'], 'id'>;

/** A recorded change: the payload of the frame `workspace.changed`, and the thread of the frame. */
export interface WorkspaceChange {
  readonly threadId: string | null;
  readonly payload: Omit<WorkspaceChanged, 'id'>;
}

/** The outcome of a record. */
export interface RecordOutcome {
  readonly causes: readonly RecordCause[];
  readonly parent: string;
  readonly tree: string;
  readonly files: readonly FileChange[];
  readonly notRecorded: readonly NotRecorded[] | undefined;
  /** The calls that may have made the change. */
  readonly calls: readonly RecordedCall[];
  /** The counts of all changes since the workspace was opened, if they are known. */
  readonly sinceOpened: FileCounts | undefined;
  readonly isInPlace: boolean;
}

/** The change for the log. If several calls may have made it, or if it was found after a crash, all possible calls are listed as candidates. */
export function toChange(outcome: RecordOutcome): WorkspaceChange {
  const { parent, tree, files, notRecorded, calls, sinceOpened } = outcome;
  const cause = toCause(outcome);
  const isRecovered = cause.type === 'recovered';
  const [only] = calls.length === 1 && !isRecovered ? calls : [];
  return {
    threadId: only?.threadId ?? cause.threadId,
    payload: {
      tree,
      parent,
      cause: isRecovered || calls.length === 0 ? cause.type : 'tool',
      tool_use_id: only?.toolUseId ?? null,
      ...((calls.length > 1 || (isRecovered && calls.length > 0)) && {
        candidates: calls.map((call) => ({ session_thread_id: call.threadId, tool_use_id: call.toolUseId })),
      }),
      ...summarise(files, snapshotLimits.frameFilesMax),
      ...(sinceOpened !== undefined && { since_opened: sinceOpened }),
      ...(notRecorded !== undefined && {
        not_recorded: notRecorded
          .slice(0, snapshotLimits.frameNotRecordedMax)
          .map(({ path, reason }) => ({ path: toPathText(path), reason })),
        not_recorded_count: notRecorded.length,
      }),
    },
  };
}

/** The cause of a change. In the user's own directory, a change at the end of a model's turn that no call may have made is attributed to the user. */
function toCause({ causes, calls, files, isInPlace }: RecordOutcome): RecordCause {
  const cause = causes[0]!;
  const isEndOfModelTurn = cause.type === 'turn' && cause.threadId !== null && cause.isByProgram !== true;
  const isOutside = isInPlace && files.length > 0 && calls.length === 0 && isEndOfModelTurn;
  return isOutside ? { type: 'outside', threadId: null, paths: null } : cause;
}

/** The unmerged changes in the worktree of a thread. */
export function toUnmerged(files: readonly FileChange[]): UnmergedChanges {
  return summarise(files, snapshotLimits.unmergedFilesMax);
}

/** The first files, and the counts of all files. */
function summarise(files: readonly FileChange[], filesMax: number): UnmergedChanges {
  return {
    files: files.slice(0, filesMax).map(({ path, status, added, removed }) => ({ path, status, added, removed })),
    ...toCounts(files),
  };
}

/** The number of changed files, and of added and removed lines. */
export function toCounts(files: readonly FileChange[]): FileCounts {
  return {
    files_count: files.length,
    lines_added: sum(files, ({ added }) => added),
    lines_removed: sum(files, ({ removed }) => removed),
  };
}

function sum(files: readonly FileChange[], count: (file: FileChange) => number | null): number {
  return files.reduce((total, file) => total + (count(file) ?? 0), 0);
}
