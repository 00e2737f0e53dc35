import type { RecordCause } from '../../workspaces/snapshots/recorder-options.ts';
import type { WorkspaceRecorder, WrittenTrees } from '../../workspaces/snapshots/recorder.ts';
import type { WorkspaceChange } from '../../workspaces/snapshots/workspace-change.ts';
import type { SetupResult } from '../../workspaces/workspace-source.ts';
import type { Command } from '../core/command.ts';
import type { ThreadWorkspaces } from '../../workspaces/isolation/thread-workspaces.ts';
import { isProgramThread } from '../core/state/program-threads.ts';
import { type Call, type SessionState, type ThreadState, threadOf } from '../core/state/state.ts';
import { worktreeOwnerOf } from '../core/state/workspace-of.ts';
import { IsolatedFiles } from './isolated-files.ts';
import { mergeFiles, type MergeParts, type MergeReport, type MergeRequest, resumeMerge } from './merge-files.ts';
import { agentOf } from '../core/state/agent-of.ts';
import { toRecordedCall } from './to-recorded-call.ts';

/** What recording a session needs. */
export interface SessionFilesOptions {
  readonly state: SessionState;
  readonly recorder: WorkspaceRecorder;
  /** The worktrees of threads that do not work in the workspace of the session. */
  readonly threads: ThreadWorkspaces | null;
  readonly dispatch: (command: Command, change?: WorkspaceChange) => Promise<void>;
}

/** The files of a session that are recorded: prepared before its first model request, recorded after each tool call and turn. */
export class SessionFiles {
  readonly #options: SessionFilesOptions;
  readonly #isolated: IsolatedFiles | null;
  #preparing: Promise<PrepareFailure | undefined> | undefined;
  /** How the last preparation ended. */
  #preparation: 'none' | 'ready' | 'failed' = 'none';
  /** The last merge: one runs at a time. */
  #merging: Promise<unknown> = Promise.resolve();

  constructor(options: SessionFilesOptions) {
    this.#options = options;
    const { state, threads, dispatch } = options;
    this.#isolated = threads === null ? null : new IsolatedFiles({ state, threads, dispatch });
  }

  /** Prepares the workspace. Rejects if that fails; it can then be called again. */
  async prepare(): Promise<void> {
    const failure = await this.#prepareOnce();
    if (failure !== undefined) throw new Error(failure.message);
  }

  /** As `prepare`, before a model request: a failure, also one of a setup command of a clone, is the outcome of the request. */
  async prepareFor(
    threadId: string,
    startId: string,
    failedSetup: SetupResult | null = null,
  ): Promise<Command | undefined> {
    const failure =
      failedSetup === null
        ? ((await this.#prepareOnce()) ?? (await this.#prepareOwn(threadId)))
        : toSetupFailure(failedSetup);
    if (failure === undefined) return undefined;
    const { state } = this.#options;
    const { message, isFinal } = failure;
    const failed = {
      reason: isFinal ? 'unknown' : 'workspace_failed',
      message,
      consequence: isFinal ? 'session' : 'turn',
      retryAfterMs: null,
    } as const;
    const model = agentOf(state, threadOf(state, threadId)).model.id;
    return {
      type: 'failed',
      threadId,
      failed: { startId, failure: failed, usage: null, costNanoUsd: null, model, delayMs: 0 },
    };
  }

  /** Begins a tool call of a model engine. Changes that the user made before are logged first. */
  async beginCall(threadId: string, call: Call): Promise<void> {
    const recorded = toRecordedCall(threadId, call);
    const recorder = this.#recorderIn(this.#ownerOf(threadId));
    if (recorded === null || recorder === undefined) return;
    // As with `record`: a workspace that cannot be opened is reported by the next request.
    await this.#logChange(await recorder.recordOutside(recorded).catch(() => undefined));
    recorder.begin(recorded);
  }

  /** Called when a tool call of a program has begun. */
  begin(threadId: string, call: Call): void {
    const recorded = toRecordedCall(threadId, call);
    if (recorded !== null) this.#recorderIn(this.#ownerOf(threadId))?.begin(recorded);
  }

  /** Records files after a tool call, before its result is logged. */
  async recordCall(threadId: string, call: Call): Promise<WorkspaceChange | undefined> {
    if (toRecordedCall(threadId, call) === null) return undefined;
    return await this.record({ type: 'tool', threadId, toolUseId: call.id });
  }

  /** Records files after a model request, before its outcome is logged. Processes of a turn that ends with it may still be running. */
  async recordAnswer(command: Command): Promise<WorkspaceChange | undefined> {
    const isEnd =
      command.type === 'failed' ||
      (command.type === 'answered' && command.answered.event.content.every(({ type }) => type !== 'tool_use'));
    return isEnd ? await this.record({ type: 'turn', threadId: command.threadId }) : undefined;
  }

  /** A workspace that cannot be opened has nothing to record. The next request prepares it again, and reports the reason. */
  async record(cause: RecordCause): Promise<WorkspaceChange | undefined> {
    try {
      return await this.#recordIn(this.#ownerOf(cause.threadId), cause);
    } catch (error) {
      if (this.#preparation === 'ready') throw error;
      return undefined;
    }
  }

  /** The path of the worktree in which a thread works, if that is not the workspace of the session. */
  async openWorktree(ownerId: string): Promise<string> {
    await this.prepare();
    if (this.#isolated === null) throw new Error('threads of this session cannot have worktrees of their own');
    return await this.#isolated.open(ownerId);
  }

  /** Merges the changes of a thread in its own worktree into the workspace that the worktree was made from. */
  async merge(request: MergeRequest): Promise<MergeReport> {
    const merging = this.#merging.then(async () => await mergeFiles(this.#mergeParts, request));
    this.#merging = merging.catch(() => undefined);
    return await merging;
  }

  /** After a crash, before anything else is recorded: finishes an interrupted merge. */
  async resumeMerge(): Promise<void> {
    await resumeMerge(this.#mergeParts);
  }

  /**
   * After a crash, before the open turns of the session are recovered: logs what their running tool calls may have changed. A
   * turn of a program may have changed files in any case.
   */
  async recordInterrupted(): Promise<void> {
    const { state } = this.#options;
    if (state.workspace === null || state.isDiscarded) return;
    const open = [...state.threads.values()].filter(({ turn }) => turn !== null);
    const running = open.flatMap(({ id, calls }) =>
      [...calls.values()].flatMap((call) => (call.progress.type === 'running' ? (toRecordedCall(id, call) ?? []) : [])),
    );
    const causes: RecordCause[] = running.map(({ threadId, toolUseId }) => ({
      type: 'recovered',
      threadId,
      toolUseId,
    }));
    for (const thread of open) {
      const owner = this.#ownerOf(thread.id);
      const isRecorded = causes.some(({ threadId }) => this.#ownerOf(threadId) === owner);
      if (isRecorded || !isProgramThread(state, thread)) continue;
      causes.push({ type: 'recovered', threadId: thread.id, toolUseId: null });
    }
    try {
      if (causes.length > 0) await this.prepare();
      for (const { threadId } of causes) await this.#prepareOwn(threadId!);
      // All calls begin first: each may have written a file that the first record finds.
      for (const call of running) this.#recorderIn(this.#ownerOf(call.threadId))?.begin(call);
      for (const cause of causes) await this.#log(cause);
    } catch {
      // The next record fails too, and reports the error. The session must be recovered nevertheless.
    }
  }

  /** Replaces the files that differ between two trees, and logs that. Changes that were not recorded yet are logged first. */
  async restore(trees: WrittenTrees, by: string): Promise<void> {
    const { recorder } = this.#options;
    await this.prepare();
    const paths = (await recorder.diff(trees)).map(({ path }) => path);
    await this.#log({ type: 'turn', threadId: null, paths });
    await recorder.write(trees);
    await this.#log({ type: 'restore', threadId: null }, { by });
  }

  /** Resolves when all of its work has ended. */
  async close(): Promise<void> {
    await this.#merging;
    await Promise.all([this.#options.recorder.close(), this.#isolated?.close()]);
  }

  /** Logs the end of a setup command of a clone. */
  async logSetup(setup: SetupResult): Promise<void> {
    await this.#options.dispatch({ type: 'workspace_ready', opened: null, setup: toPayload(setup) });
  }

  /** Records files that the server put into the workspace: they must not count as changes of the next tool call. */
  async recordSetup(): Promise<void> {
    // The first record of a session includes these files anyway. If a record fails, the next one fails too and reports the error.
    if (this.#options.state.workspace !== null)
      await this.#log({ type: 'setup', threadId: null }).catch(() => undefined);
  }

  get #mergeParts(): MergeParts {
    const { state, dispatch } = this.#options;
    return {
      state,
      dispatch,
      open: async (owner) => {
        await this.prepare();
        if (owner !== null) await this.#isolated?.prepare(owner);
        const recorder = this.#recorderIn(owner);
        if (recorder === undefined) throw new Error('threads of this session cannot have worktrees of their own');
        return recorder;
      },
      log: async (owner, cause) => await this.#logChange(await this.#recordIn(owner, cause)),
      record: async (owner, cause) => await this.#recordIn(owner, cause),
    };
  }

  #ownerOf(threadId: string | null): ThreadState | null {
    return worktreeOwnerOf(this.#options.state, threadId);
  }

  #recorderIn(owner: ThreadState | null): WorkspaceRecorder | undefined {
    return owner === null ? this.#options.recorder : this.#isolated?.recorderOf(owner);
  }

  async #recordIn(owner: ThreadState | null, cause: RecordCause): Promise<WorkspaceChange | undefined> {
    return owner === null ? await this.#options.recorder.record(cause) : await this.#isolated?.record(owner, cause);
  }

  /** Makes the worktree ready in which a thread works, if that is not the workspace of the session. */
  async #prepareOwn(threadId: string): Promise<PrepareFailure | undefined> {
    const owner = this.#ownerOf(threadId);
    if (owner === null) return undefined;
    try {
      if (this.#isolated === null) throw new Error('this server has no worktrees for threads');
      await this.#isolated.prepare(owner);
      return undefined;
    } catch (error) {
      return toFailure(error);
    }
  }

  async #log(cause: RecordCause, more: { readonly by?: string } = {}): Promise<void> {
    await this.#logChange(await this.#recordIn(this.#ownerOf(cause.threadId), cause), more);
  }

  async #logChange(change: WorkspaceChange | undefined, more: { readonly by?: string } = {}): Promise<void> {
    if (change === undefined) return;
    const payload = { ...change.payload, ...more };
    await this.#options.dispatch({ type: 'workspace_changed' }, { ...change, payload });
  }

  async #prepareOnce(): Promise<PrepareFailure | undefined> {
    this.#preparing ??= this.#prepare();
    const failure = await this.#preparing;
    this.#preparation = failure === undefined ? 'ready' : 'failed';
    if (failure !== undefined) this.#preparing = undefined;
    return failure;
  }

  async #prepare(): Promise<PrepareFailure | undefined> {
    const { recorder, dispatch } = this.#options;
    try {
      const { opened, setup } = await recorder.prepare();
      if (opened !== null || setup !== null) {
        await dispatch({ type: 'workspace_ready', opened, setup: setup === null ? null : toPayload(setup) });
      }
      return setup === null || setup.code === 0 ? undefined : toSetupFailure(setup);
    } catch (error) {
      return toFailure(error);
    }
  }
}

function toFailure(error: unknown): PrepareFailure {
  const message = `the workspace cannot be prepared: ${error instanceof Error ? error.message : String(error)}`;
  return { message, isFinal: false };
}

function toPayload({ command, code, output, isCut, durationMs }: SetupResult) {
  return { command, code, output, is_cut: isCut, duration_ms: durationMs };
}

interface PrepareFailure {
  readonly message: string;
  /** Whether no later turn can succeed. */
  readonly isFinal: boolean;
}

function toSetupFailure({ command, code, output }: SetupResult): PrepareFailure {
  const last = output.trim().split('\n').at(-1) ?? '';
  const end = code === null ? 'was stopped' : `ended with exit code ${code}`;
  const message = `the setup command \`${command}\` ${end}${last === '' ? '' : ` (${last})`}: correct it and create another session`;
  return { message, isFinal: true };
}
