import type { ThreadWorkspaces } from '../../workspaces/isolation/thread-workspaces.ts';
import type { RecordCause } from '../../workspaces/snapshots/recorder-options.ts';
import type { WorkspaceRecorder } from '../../workspaces/snapshots/recorder.ts';
import { toUnmerged, type WorkspaceChange } from '../../workspaces/snapshots/workspace-change.ts';
import type { Command } from '../core/command.ts';
import { type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';
import { recordedTreeOf, worktreeOwnerOf } from '../core/state/workspace-of.ts';

/** What the worktrees of the threads of a session need. */
export interface IsolatedFilesOptions {
  readonly state: SessionState;
  readonly threads: ThreadWorkspaces;
  readonly dispatch: (command: Command) => Promise<void>;
}

/** The files of threads with worktrees of their own: each worktree is created before the first model request of its thread, and recorded. */
export class IsolatedFiles {
  readonly #options: IsolatedFilesOptions;
  readonly #recorders = new Map<string, WorkspaceRecorder>();
  readonly #preparing = new Map<string, Promise<void>>();

  constructor(options: IsolatedFilesOptions) {
    this.#options = options;
  }

  /** Makes the worktree of a thread ready. Rejects if that fails; it can then be called again. */
  async prepare(owner: ThreadState): Promise<void> {
    const preparing = this.#preparing.get(owner.id) ?? this.#prepare(owner);
    this.#preparing.set(owner.id, preparing);
    try {
      await preparing;
    } catch (error) {
      this.#preparing.delete(owner.id);
      throw error;
    }
  }

  /** The path of the worktree of a thread, for its tools. */
  async open(ownerId: string): Promise<string> {
    const owner = threadOf(this.#options.state, ownerId);
    await this.prepare(owner);
    return (await this.#options.threads.open(this.#toThread(owner))).path;
  }

  /** The recorder of the worktree of a thread; undefined before the worktree is ready. */
  recorderOf(owner: ThreadState): WorkspaceRecorder | undefined {
    return this.#recorders.get(owner.id);
  }

  /** Records a worktree. The change also contains everything that its thread has not merged yet, for the report of the thread. */
  async record(owner: ThreadState, cause: RecordCause): Promise<WorkspaceChange | undefined> {
    const recorder = this.recorderOf(owner);
    const change = await recorder?.record(cause);
    if (recorder === undefined || change === undefined) return undefined;
    const files = await recorder.diff({ from: owner.isolation!.merged!, tree: change.payload.tree });
    return {
      ...change,
      payload: { ...change.payload, workspace_thread_id: owner.id, unmerged: toUnmerged(files) },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#recorders.values()].map((recorder) => recorder.close()));
  }

  async #prepare(owner: ThreadState): Promise<void> {
    const { state, threads, dispatch } = this.#options;
    const from = worktreeOwnerOf(state, owner.parentId);
    if (from !== null) await this.prepare(from);
    const thread = this.#toThread(owner);
    const { branch } = await threads.open(thread);
    const recorder = threads.openRecorder(thread);
    this.#recorders.set(owner.id, recorder);
    await recorder.prepare();
    if (!thread.isNew) return;
    const isolated = {
      session_thread_id: owner.id,
      from_session_thread_id: from?.id ?? null,
      tree: thread.tree,
      branch,
    };
    await dispatch({ type: 'workspace_isolated', isolated });
  }

  #toThread(owner: ThreadState) {
    const { state } = this.#options;
    const known = owner.isolation!.tree;
    const tree = known ?? recordedTreeOf(state, worktreeOwnerOf(state, owner.parentId));
    if (tree === null) throw new Error(`the workspace of ${state.id} is not recorded`);
    return { sessionId: state.id, threadId: owner.id, tree, isNew: known === null };
  }
}
