import type {
  AppliedChanges,
  FileTouch,
  NotRecordedFile,
  ThreadWorktree,
  WorkspaceChanges,
} from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';
import type { ThreadData } from '../../frames/record-data.ts';
import type { Store } from '../../store/store.ts';
import { toBytePath } from '../snapshots/objects/path-text.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import { countFiles, toShownFile } from './count-files.ts';
import { findRange, isBegin, type PointRange, toPoint } from './find-point.ts';
import type { WorkspaceFrame } from './history.ts';
import { changesLimits } from './limits.ts';
import { canApply, type SourceFacts } from './source-facts.ts';
import { findTouches, threadsOf } from './touches.ts';

/** The range and the filters of a list. */
export interface ListRequest extends PointRange {
  /** Only files that this thread touched. */
  readonly threadId?: string | undefined;
  /** Lists only files after this path, and at most `limit` of them. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** The dependencies of {@link listChanges}. */
export interface ListParts {
  readonly store: Pick<Store, 'threads'>;
  readonly snapshots: Pick<Snapshots, 'diffTrees'>;
}

/** The workspace whose changes are listed. */
export interface ListedWorkspace {
  readonly sessionId: string;
  readonly source: SourceFacts;
  readonly frames: readonly WorkspaceFrame[];
  readonly path: string;
  /** Whether this is the worktree of a thread. Its changes are merged into the workspace of the session, and not applied. */
  readonly isOfThread: boolean;
  readonly worktrees: readonly ThreadWorktree[];
}

/** Lists what changed in a workspace between two moments. */
export async function listChanges(
  { store, snapshots }: ListParts,
  { sessionId, source, frames, path, isOfThread, worktrees }: ListedWorkspace,
  { threadId, after, limit = changesLimits.filesMax, ...asked }: ListRequest,
): Promise<WorkspaceChanges> {
  const range = findRange(frames, asked);
  const touches =
    range === undefined ? new Map<string, readonly FileTouch[]>() : await findTouches(snapshots, frames, range);
  const differing =
    range === undefined ? [] : await snapshots.diffTrees(sessionId, range.from.payload.tree, range.to.payload.tree);
  const touchesOf = (path: string) => touches.get(path) ?? [];
  const isWanted = (path: string) => touchesOf(path).some((touch) => threadsOf(touch).includes(threadId!));
  const files = threadId === undefined ? differing : differing.filter(({ path }) => isWanted(path));
  // Compared as bytes, because trees are sorted by bytes.
  const last = toBytePath(after ?? '');
  const rest = after === undefined ? files : files.filter(({ path }) => toBytePath(path) > last);
  const page = rest.slice(0, limit);
  const state = stateOf(frames);
  const notRecorded = findNotRecorded(frames, range?.to.seq ?? 0);
  return {
    type: 'workspace_changes',
    session_id: sessionId,
    state,
    source: source.shown,
    workspace: state === 'open' ? path : null,
    from: range === undefined ? null : toPoint(range.from),
    to: range === undefined ? null : toPoint(range.to),
    files: page.map((file) => ({
      ...toShownFile(file),
      touched_by: touchesOf(file.path).slice(0, changesLimits.touchesMax),
      touched_by_count: touchesOf(file.path).length,
    })),
    next_after: page.length < rest.length ? page.at(-1)!.path : null,
    ...countFiles(files),
    threads: await countThreads(
      store,
      sessionId,
      differing.map(({ path }) => touchesOf(path)),
    ),
    not_recorded: notRecorded.slice(0, changesLimits.notRecordedMax),
    not_recorded_count: notRecorded.length,
    applied: frames.flatMap(toApplied).slice(-changesLimits.appliedMax),
    can_apply: isOfThread ? { working_tree: false, branch: false } : canApply(source),
    ...(worktrees.length > 0 && { worktrees }),
  };
}

/** Rejects a thread that the session does not have: an empty list would look like a thread without changes. */
export async function checkThread(
  store: Pick<Store, 'threads'>,
  sessionId: string,
  threadId: string | undefined,
): Promise<void> {
  if (threadId === undefined || (await store.threads.get(sessionId, threadId)) !== undefined) return;
  throw requestError('unknown_id', `thread: ${sessionId} has no thread ${threadId}`, {
    advice: 'GET /v1/sessions/{session_id}/threads lists them',
  });
}

/** The state of the workspace at the end of a log. */
export function stateOf(frames: readonly WorkspaceFrame[]): WorkspaceChanges['state'] {
  const isEnd = ({ type }: WorkspaceFrame) => type === 'workspace.discarded' || type === 'workspace.lost';
  const last = frames.findLast((frame) => isBegin(frame) || isEnd(frame));
  if (last === undefined) return 'not_opened';
  return isBegin(last) ? 'open' : 'discarded';
}

/** Paths that were reported as not recorded up to a position, and that no later change has recorded. */
export function findNotRecorded(frames: readonly WorkspaceFrame[], to: number): readonly NotRecordedFile[] {
  const found = new Map<string, string>();
  for (const frame of frames) {
    if (frame.seq > to) break;
    if (isBegin(frame)) found.clear();
    if (frame.type !== 'workspace.changed') continue;
    const { files, not_recorded: reported = [] } = frame.payload;
    for (const { path } of files) found.delete(path);
    // `.` stands for a record that failed as a whole; the next record has repeated it.
    found.delete('.');
    for (const { path, reason } of reported) found.set(path, reason);
  }
  return [...found].map(([path, reason]) => ({ path, reason })).sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function countThreads(
  store: Pick<Store, 'threads'>,
  sessionId: string,
  files: readonly (readonly FileTouch[])[],
): Promise<WorkspaceChanges['threads']> {
  const counts = new Map<string, number>();
  for (const touches of files) {
    for (const id of new Set(touches.flatMap(threadsOf))) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return await Promise.all(
    [...counts].map(async ([id, count]) => ({
      session_thread_id: id,
      agent_name: await readAgentName(store, sessionId, id),
      files_count: count,
    })),
  );
}

/** The name of the agent of a thread. */
export async function readAgentName(
  store: Pick<Store, 'threads'>,
  sessionId: string,
  threadId: string,
): Promise<string | null> {
  const thread = await store.threads.get(sessionId, threadId);
  // The cast is safe because only sessions write this data.
  return thread === undefined ? null : (thread.data as unknown as ThreadData).agent.name;
}

function toApplied(frame: WorkspaceFrame): AppliedChanges[] {
  if (frame.type !== 'workspace.applied') return [];
  const { by, onto, paths_count, branch = null, commit = null } = frame.payload;
  return [
    { cursor: String(frame.seq), time: new Date(frame.time).toISOString(), by, onto, paths_count, branch, commit },
  ];
}
