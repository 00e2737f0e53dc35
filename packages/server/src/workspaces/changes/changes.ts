import { relative } from 'node:path';
import type {
  ChangesApplied,
  ChangesDiscarded,
  ChangesMerged,
  ChangesRestored,
  WorkspaceChanges,
  WorkspaceDiff,
  WorkspaceDiffs,
  WorkspaceSteps,
  WorkspaceTree,
} from '@fleetloom/protocol/fleet';
import type { MountedResource } from '@fleetloom/protocol/managed-agents';
import { FleetloomError } from '../../base/errors.ts';
import { requestError } from '../../base/request-error.ts';
import type { FramePayloads } from '../../frames/frames.ts';
import type { Store } from '../../store/store.ts';
import { createLocks } from '../../tools/locks.ts';
import type { RepositoryGit } from '../git/repository-git.ts';
import type { ThreadWorkspaces } from '../isolation/thread-workspaces.ts';
import type { WrittenTrees } from '../snapshots/recorder.ts';
import type { Snapshots } from '../snapshots/snapshots.ts';
import type { AllowedDirectories } from '../sources/allowed-directories.ts';
import { createRepositoryReader } from '../sources/read-repository.ts';
import type { DirectorySource, SourceRepository } from '../workspace-source.ts';
import type { Workspaces } from '../workspaces.ts';
import { applyToBranch } from './apply-to-branch.ts';
import { applyToDirectory } from './apply-to-directory.ts';
import { findAuthor, toCommitMessage } from './commit-text.ts';
import { showFiles } from './count-files.ts';
import { findOpened, findPoint, findRange, type PointRange, toPoint } from './find-point.ts';
import { createHistory, type TreeFrame, type WorkspaceFrame } from './history.ts';
import { changesLimits } from './limits.ts';
import { checkThread, findNotRecorded, type ListRequest, listChanges, readAgentName, stateOf } from './list-changes.ts';
import { listSteps, type StepsRequest } from './list-steps.ts';
import { listWorktrees } from './list-worktrees.ts';
import { planMerge } from './plan-merge.ts';
import {
  type DiffsRequest,
  type FileContent,
  readContent,
  readDiff,
  readDiffs,
  readTree,
  type TreeRequest,
} from './read-changes.ts';
import { reportLostObjects } from './report-lost-objects.ts';
import type {
  ApplyRequest,
  AtRequest,
  DiffRequest,
  DiscardRequest,
  MergeRequest,
  RestoreRequest,
  ThreadRequest,
} from './requests.ts';
import { planRestore } from './plan-restore.ts';
import { selectChanges } from './select-changes.ts';
import { selectWorkspace } from './select-workspace.ts';
import { canApply, findSourceFacts, type SourceFacts } from './source-facts.ts';
import { findTouches, threadsOf } from './touches.ts';

/** The changes of agents in the workspaces of sessions: reads, applies, merges and removes them. Positions are the `seq` of frames. */
export interface Changes {
  list(session: SessionAt, request: ListRequest): Promise<WorkspaceChanges>;
  steps(session: SessionAt, request: StepsRequest): Promise<WorkspaceSteps>;
  diff(session: SessionAt, request: DiffRequest): Promise<WorkspaceDiff>;
  diffs(session: SessionAt, request: DiffsRequest & PointRange & ThreadRequest): Promise<WorkspaceDiffs>;
  tree(session: SessionAt, request: TreeRequest & AtRequest & ThreadRequest): Promise<WorkspaceTree>;
  content(session: SessionAt, request: AtRequest & ThreadRequest & { readonly path: string }): Promise<FileContent>;
  apply(session: SessionAt, request: ApplyRequest): Promise<ChangesApplied>;
  discard(session: SessionAt, request: DiscardRequest): Promise<ChangesDiscarded>;
  restore(session: SessionAt, request: RestoreRequest): Promise<ChangesRestored>;
  /** Merges the changes in the worktree of a thread into the workspace of the session. */
  merge(session: SessionAt, request: MergeRequest): Promise<ChangesMerged>;
}

/** A session, and the API workspace that it belongs to. */
export interface SessionAt {
  readonly workspaceId: string;
  readonly sessionId: string;
  /** Aborted when the client disconnects, to stop reading for it. Not sent to other nodes. */
  readonly signal?: AbortSignal | undefined;
}

/** Actions of the owner of a session, which writes the log and ensures that no turn is open while files are replaced. */
export interface ChangesOwner {
  logApplied(session: SessionAt, applied: Omit<FramePayloads['workspace.applied'], 'id'>): Promise<void>;
  /** Removes the workspace of an idle session. */
  discard(session: SessionAt, by: string): Promise<void>;
  /** Records the workspace of an idle session, and replaces the files that differ between two trees. */
  restore(session: SessionAt, trees: WrittenTrees, by: string): Promise<void>;
  /** Records both workspaces of an idle session, and merges the changes of a thread. */
  merge(session: SessionAt, threadId: string, by: string): Promise<void>;
}

/** The dependencies of {@link createChanges}. */
export interface ChangesOptions {
  readonly store: Pick<Store, 'read' | 'threads'>;
  readonly snapshots: Snapshots;
  readonly workspaces: Pick<Workspaces, 'sourceOf' | 'pathOf'>;
  readonly threads: Pick<ThreadWorkspaces, 'pathOf'>;
  readonly listResources: (sessionId: string) => Promise<readonly MountedResource[]>;
  readonly git: RepositoryGit;
  readonly allowed: Pick<AllowedDirectories, 'has'>;
  readonly owner: ChangesOwner;
}

/** Creates the service for sessions whose workspaces are on this disk. */
export function createChanges(options: ChangesOptions): Changes {
  const { store, snapshots, workspaces, git, allowed, owner } = options;
  const readHistory = createHistory(store);
  const locks = createLocks();

  const changes: Changes = {
    list: async ({ sessionId, signal }, request) => {
      const { source, frames, all, owner: thread } = await open(sessionId, request.threadId);
      const isOfThread = thread !== null;
      const path = isOfThread ? options.threads.pathOf(sessionId, thread) : await workspaces.pathOf(sessionId);
      const worktrees = isOfThread ? [] : await listWorktrees(store, sessionId, all);
      // The worktree of a thread has only changes of this thread and of the threads below it, so they are not filtered.
      const { threadId: _, ...range } = request;
      const listed = { sessionId, source, frames, path, isOfThread, worktrees };
      return await listChanges(
        { store, snapshots: snapshots.forRequest(signal) },
        listed,
        isOfThread ? range : request,
      );
    },
    steps: async ({ sessionId }, request) => {
      const { frames, tools, owner } = await open(sessionId, request.threadId);
      const { threadId: _, ...others } = request;
      return await listSteps(store, { sessionId, frames, tools }, owner === null ? request : others);
    },
    diff: async ({ sessionId, signal }, { path, contextLines, threadId, ...range }) => {
      const { frames } = await open(sessionId, threadId);
      return await readDiff(snapshots.forRequest(signal), findRange(frames, range) ?? notOpen(sessionId), {
        path,
        contextLines,
      });
    },
    diffs: async ({ sessionId, signal }, { from, to, threadId, ...request }) => {
      const { frames } = await open(sessionId, threadId);
      return await readDiffs(
        snapshots.forRequest(signal),
        findRange(frames, { from, to }) ?? notOpen(sessionId),
        request,
      );
    },
    tree: async ({ sessionId, signal }, { at, threadId, ...request }) => {
      const { frames } = await open(sessionId, threadId);
      return await readTree(snapshots.forRequest(signal), findPoint(frames, at) ?? notOpen(sessionId), request);
    },
    content: async ({ sessionId, signal }, { at, path, threadId }) => {
      const { frames } = await open(sessionId, threadId);
      return await readContent(snapshots.forRequest(signal), findPoint(frames, at) ?? notOpen(sessionId), path);
    },
    apply,
    discard,
    restore,
    merge,
  };
  return {
    ...changes,
    list: (session, request) => reportLostObjects(session.sessionId, () => changes.list(session, request)),
    diff: (session, request) => reportLostObjects(session.sessionId, () => changes.diff(session, request)),
    diffs: (session, request) => reportLostObjects(session.sessionId, () => changes.diffs(session, request)),
    tree: (session, request) => reportLostObjects(session.sessionId, () => changes.tree(session, request)),
    content: (session, request) => reportLostObjects(session.sessionId, () => changes.content(session, request)),
    apply: (session, request) => reportLostObjects(session.sessionId, () => apply(session, request)),
    discard: (session, request) => reportLostObjects(session.sessionId, () => discard(session, request)),
    restore: (session, request) => reportLostObjects(session.sessionId, () => restore(session, request)),
    merge: (session, request) => reportLostObjects(session.sessionId, () => merge(session, request)),
  };

  /** Opens the history of a session. `threadId`: of the worktree of this thread, if it has one. */
  async function open(sessionId: string, threadId?: string) {
    const source = findSourceFacts(await options.listResources(sessionId));
    if (source === undefined) throw requestError('not_recorded', `the files of ${sessionId} are not recorded`);
    await checkThread(store, sessionId, threadId);
    const { frames: all, tools } = await readHistory(sessionId);
    return { source, all, tools, ...selectWorkspace(all, threadId) };
  }

  async function apply(session: SessionAt, request: ApplyRequest): Promise<ChangesApplied> {
    const { sessionId } = session;
    if (request.at === undefined) await recordLeft(session, request.by);
    const { source: facts, frames } = await open(sessionId);
    const { onto, isDryRun, by, paths } = request;
    checkOnto(facts, onto.type);
    const at = findPoint(frames, request.at);
    if (at === undefined || stateOf(frames) !== 'open') throw notOpenError(sessionId);
    const source = await openSource(sessionId);
    const repository = await snapshots.repositoryOf(sessionId);
    const base = findOpened(frames, at.seq).payload.tree;
    const selected = await selectChanges(repository, { base, tree: at.payload.tree }, paths);
    const directory = toTarget(source);
    await checkAllowed(directory);
    const branch = onto.type === 'branch' ? onto.branch : null;
    // Locked, so that a concurrent request cannot write files between the merge and the writing.
    const { files, commit } = await locks.hold(directory, async () => {
      if (branch === null) {
        const { repository: user } = source;
        const findSparse = user === null ? undefined : () => createRepositoryReader(git, user).sparsePaths();
        const files = await applyToDirectory({ repository, directory, isDryRun, findSparse }, selected);
        return { files, commit: null };
      }
      const user = source.repository ?? throwNot(`${source.path} is not in a git repository`);
      const prefix = source.mode === 'worktree' ? '' : relative(user.top, source.path);
      const toText = () => toCommitText(sessionId, { user, request, frames, at });
      return await applyToBranch({ repository, git, user, prefix, branch, isDryRun, toText }, selected);
    });
    if (!isDryRun && files.length > 0) {
      const made = branch === null || commit === null ? {} : { branch, commit };
      await owner.logApplied(session, { by, onto: onto.type, paths_count: files.length, ...made });
    }
    return {
      type: 'changes_applied',
      session_id: sessionId,
      onto: onto.type,
      dry_run: isDryRun,
      at: toPoint(at),
      directory,
      branch,
      commit,
      ...showFiles(files),
    };
  }

  async function toCommitText(
    sessionId: string,
    made: { user: SourceRepository; request: ApplyRequest; frames: readonly WorkspaceFrame[]; at: TreeFrame },
  ) {
    const { user, request, frames, at } = made;
    const range = { from: findOpened(frames, at.seq), to: at };
    const touches = [...(await findTouches(snapshots, frames, range)).values()].flat();
    const threads = [...new Set(touches.flatMap(threadsOf))].slice(0, changesLimits.coAuthorsMax);
    const names = await Promise.all(threads.map((id) => readAgentName(store, sessionId, id)));
    const { title, message } = request;
    const agents = names.filter((name) => name !== null);
    const repository = await snapshots.repositoryOf(sessionId);
    const author = await findAuthor(repository, await createRepositoryReader(git, user).settings());
    return { ...author, message: toCommitMessage({ sessionId, title, message, agents }) };
  }

  async function discard(session: SessionAt, { by, isDryRun }: DiscardRequest): Promise<ChangesDiscarded> {
    const { sessionId } = session;
    await recordLeft(session, by);
    const { source: facts, frames, all } = await open(sessionId);
    const { shown } = facts;
    if (shown.type === 'directory' && (shown.mode === 'in_place' || shown.mode === 'read_only')) {
      const problem = `${sessionId} works on ${shown.path} itself, so there is no workspace to remove`;
      const advice = 'use restore to set its files back to a cursor, or archive the session';
      throw requestError('not_applicable', problem, { advice });
    }
    if (stateOf(frames) === 'not_opened') throw notOpenError(sessionId);
    const at = findPoint(frames) ?? notOpen(sessionId);
    const opened = findOpened(frames, at.seq);
    const isGone = stateOf(frames) === 'discarded';
    const files = isGone ? [] : await snapshots.diffTrees(sessionId, opened.payload.tree, at.payload.tree);
    const lost = isGone ? [] : findNotRecorded(frames, at.seq);
    const workspace = isGone ? null : (await openSource(sessionId)).workspace;
    const worktrees = (await listWorktrees(store, sessionId, all)).filter(({ files_count: count }) => count > 0);
    // Repeated even if the workspace was discarded: a crash may have prevented the removal of its files.
    if (!isDryRun) await owner.discard(session, by);
    return {
      type: 'changes_discarded',
      session_id: sessionId,
      dry_run: isDryRun,
      directory: workspace,
      branch: shown.type === 'directory' ? shown.branch : null,
      ...showFiles(files),
      not_recorded: lost.slice(0, changesLimits.notRecordedMax),
      not_recorded_count: lost.length,
      ...(worktrees.length > 0 && { worktrees }),
    };
  }

  /**
   * Records what has changed in the workspace of an idle session since its last record: the user may have edited files there,
   * and a process that an agent left running may have written some. With `in_place` such files belong to the user.
   */
  async function recordLeft(session: SessionAt, by: string): Promise<void> {
    const { source: facts, frames } = await open(session.sessionId);
    const last = findPoint(frames);
    const { shown } = facts;
    const isOwn = shown.type === 'repositories' || shown.mode === 'worktree' || shown.mode === 'copy';
    if (last === undefined || !isOwn || stateOf(frames) !== 'open') return;
    const { tree } = last.payload;
    try {
      await owner.restore(session, { from: tree, tree }, by);
    } catch (error) {
      if (!(error instanceof FleetloomError) || !LEAVES_NOTHING.has(error.code)) throw error;
    }
  }

  async function merge(session: SessionAt, { threadId, by, isDryRun }: MergeRequest): Promise<ChangesMerged> {
    const { sessionId } = session;
    const { all: frames } = await open(sessionId);
    const planned = await planMerge(snapshots, sessionId, { frames, threadId });
    if (!isDryRun) await owner.merge(session, threadId, by);
    const last = frames.at(-1)?.seq ?? 0;
    const later = isDryRun ? [] : (await readHistory(sessionId)).frames.filter(({ seq }) => seq > last);
    const ended = later.find((frame) => frame.type === 'workspace.merge_ended' && frame.payload.is_merged);
    return {
      type: 'changes_merged',
      session_id: sessionId,
      session_thread_id: threadId,
      dry_run: isDryRun,
      cursor: ended === undefined ? null : String(ended.seq),
      ...showFiles(planned),
    };
  }

  async function restore(session: SessionAt, request: RestoreRequest): Promise<ChangesRestored> {
    const { sessionId } = session;
    const { by, isDryRun, overwrites } = request;
    const { source: facts, frames } = await open(sessionId);
    if (facts.shown.type === 'directory' && facts.shown.mode === 'read_only') {
      throw requestError('not_applicable', `the workspace of ${sessionId} is read-only, so it has not changed`);
    }
    if (stateOf(frames) !== 'open') throw notOpenError(sessionId);
    const at = findPoint(frames, request.at) ?? notOpen(sessionId);
    const last = findPoint(frames) ?? notOpen(sessionId);
    const repository = await snapshots.repositoryOf(sessionId);
    const { workspace: directory } = (await workspaces.sourceOf(sessionId)) ?? notOpen(sessionId);
    const touches = await findTouches(snapshots, frames, { from: at, to: last });
    const plan = await planRestore({ repository, directory, overwrites }, { last, at, touches });
    if (!isDryRun) await owner.restore(session, { from: plan.from, tree: plan.tree }, by);
    const history = isDryRun ? [] : selectWorkspace((await readHistory(sessionId)).frames).frames;
    const later = history.filter(({ seq }) => seq > last.seq);
    const restored = later.find((frame) => frame.type === 'workspace.changed' && frame.payload.cause === 'restore');
    const before = findPoint([last, ...later], restored === undefined ? undefined : restored.seq - 1) ?? last;
    return {
      type: 'changes_restored',
      session_id: sessionId,
      dry_run: isDryRun,
      at: toPoint(at),
      before: toPoint(before),
      cursor: restored === undefined ? null : String(restored.seq),
      ...showFiles(plan.files),
      overwritten: plan.overwritten.slice(0, changesLimits.conflictsMax),
      overwritten_count: plan.overwritten.length,
    };
  }

  async function openSource(sessionId: string): Promise<DirectorySource> {
    const source = await workspaces.sourceOf(sessionId);
    if (source?.type === 'directory') return source;
    return throwNot(`the workspace of ${sessionId} was cloned, and does not belong to a directory of this machine`);
  }

  /** Throws if the operator has removed the directory from the allowed ones since the session was created. */
  async function checkAllowed(directory: string): Promise<void> {
    if (await allowed.has(directory)) return;
    const problem = `${directory} is not in a directory that this server allows any more`;
    const advice = `start the server with --allow-directory ${directory}, or ask its operator to`;
    throw requestError('directory_not_allowed', problem, { advice, details: { path: directory } });
  }
}

/** Errors that are ignored: a running session is recorded by its turns, and an ended session has no workspace to record. */
const LEAVES_NOTHING = new Set(['session_running', 'session_archived', 'session_terminated']);

/** The directory to which changes are applied. For a worktree it is the whole repository, even if one of its directories was named. */
function toTarget({ mode, path, repository }: DirectorySource): string {
  return mode === 'worktree' && repository !== null ? repository.top : path;
}

function checkOnto(facts: SourceFacts, onto: 'working_tree' | 'branch'): void {
  if (canApply(facts)[onto]) return;
  const { shown } = facts;
  if (shown.type === 'repositories') {
    throw requestError('not_applicable', 'the session works on clones, which have no working tree on this machine', {
      advice: 'have the agent push a branch, or read the diffs and apply them with git apply',
    });
  }
  if (shown.mode === 'read_only') throwNot('the session cannot write, so it has no changes');
  if (onto === 'branch') throwNot(`${shown.path} is not in a git repository with commits, so it has no branches`);
  throwNot(`the session works on ${shown.path} in place, so its changes are there already`);
}

function throwNot(problem: string): never {
  throw requestError('not_applicable', problem);
}

function notOpen(sessionId: string): never {
  throw notOpenError(sessionId);
}

function notOpenError(sessionId: string) {
  return requestError(
    'workspace_not_open',
    `${sessionId} has no workspace: no agent has worked in it yet, or it was discarded`,
  );
}
