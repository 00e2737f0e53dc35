import type { WorkspacePoint } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';
import type { TreeFrame, WorkspaceFrame } from './history.ts';

/** A range of a log, by the `seq` of frames. */
export interface PointRange {
  /** The beginning; by default the frame that opened the workspace. */
  readonly from?: number | undefined;
  /** The end; by default the newest frame. */
  readonly to?: number | undefined;
}

/** A position, or `start` for the frame that opened the workspace last. */
export type Moment = number | 'start';

/** The last recorded state at or before a position, or the first state if the position is before it. Undefined if nothing was recorded. */
export function findPoint(
  frames: readonly WorkspaceFrame[],
  seq: Moment = Number.POSITIVE_INFINITY,
): TreeFrame | undefined {
  const trees = frames.filter(hasTree);
  if (seq === 'start') return trees.length === 0 ? undefined : findOpened(frames, Number.POSITIVE_INFINITY);
  return trees.findLast((frame) => frame.seq <= seq) ?? trees[0];
}

/** Both ends of a range. Undefined if nothing was recorded. */
export function findRange(
  frames: readonly WorkspaceFrame[],
  { from, to }: PointRange,
): { readonly from: TreeFrame; readonly to: TreeFrame } | undefined {
  const end = findPoint(frames, to);
  if (end === undefined) return undefined;
  const start = from === undefined ? findOpened(frames, end.seq) : findPoint(frames, from)!;
  if (start.seq <= end.seq) return { from: start, to: end };
  const problem = `from: the cursor ${start.seq} is after the cursor ${end.seq} of \`to\``;
  throw requestError('invalid_request', problem, { advice: 'exchange them' });
}

/** A recorded state as responses show it. */
export function toPoint({ seq, time, payload }: TreeFrame): WorkspacePoint {
  return { cursor: String(seq), tree: payload.tree, time: new Date(time).toISOString() };
}

/** The frame that opened the workspace at a position. */
export function findOpened(frames: readonly WorkspaceFrame[], seq: number): TreeFrame {
  const opened = frames.findLast((frame) => isBegin(frame) && frame.seq <= seq);
  // A forked or pruned log may begin after that frame.
  return (opened ?? frames.find(hasTree)) as TreeFrame;
}

function hasTree(frame: WorkspaceFrame): frame is TreeFrame {
  return isBegin(frame) || frame.type === 'workspace.changed';
}

/** Whether a frame opens a workspace: the workspace of the session, or the worktree of a thread. */
export function isBegin(frame: WorkspaceFrame): boolean {
  return frame.type === 'workspace.opened' || frame.type === 'workspace.isolated';
}
