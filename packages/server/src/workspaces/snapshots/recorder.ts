import type { FileCounts } from '@fleetloom/protocol/fleet';
import type { SetupResult } from '../workspace-source.ts';
import { CallIntervals, type RecordedCall } from './call-intervals.ts';
import { diffTrees, type FileChange } from './diff-trees.ts';
import type { Recorded } from './directory-recorder.ts';
import { type OpenedWorkspace, openWorkspace } from './open-workspace.ts';
import { packObjects } from './objects/pack-objects.ts';
import { findFiles } from './find-files.ts';
import { type BytePath, toBytePath } from './objects/path-text.ts';
import { findChanged, findObstacles } from './write/find-obstacles.ts';
import { type MergeConflict, type MergeOutcome, type MergeRequest, mergeTrees } from './merge-trees.ts';
import type { SnapshotRepository } from './objects/snapshot-repository.ts';
import type { RecordCause, RecorderOptions } from './recorder-options.ts';
import { ReportedPaths } from './reported-paths.ts';
import { writeAllOrNone } from './write/write-all-or-none.ts';
import { toChange, toCounts, type WorkspaceChange, type WorkspaceOpened } from './workspace-change.ts';

/** Records the workspace of one session, for the owner of that session. */
export interface WorkspaceRecorder {
  /** Makes the workspace ready, and records it if it was not recorded before. May be called again, also after a failure. */
  prepare(): Promise<PreparedRecorder>;
  /**
   * Called before a tool call begins. In a directory that agents share with the user, records the changes of the user since
   * the last record, in files that the call may change. The change has to be logged as with `record`, before the call begins.
   */
  recordOutside(call: RecordedCall): Promise<WorkspaceChange | undefined>;
  /** Called when a tool call begins. Its interval ends with its `record`. */
  begin(call: RecordedCall): void;
  /**
   * Records changes. Undefined if there are none, or if another call that was recorded at the same time returns the change. A
   * returned change has to be logged before the next record is requested.
   */
  record(cause: RecordCause): Promise<WorkspaceChange | undefined>;
  /** The files that differ between two trees. */
  diff(trees: WrittenTrees): Promise<readonly FileChange[]>;
  /** Merges trees of the session. Writes nothing to the workspace. */
  merge(request: MergeRequest): Promise<MergeOutcome>;
  /** Finds the obstacles to writing the files that differ between two trees: files that have changed, and files that are not recorded. */
  findObstacles(trees: WrittenTrees): Promise<readonly MergeConflict[]>;
  /**
   * Writes the files that differ between two trees and have the content of `from` on disk. Returns the paths of the other files, which stay
   * unchanged. The next record finds the change.
   */
  replace(trees: WrittenTrees): Promise<readonly string[]>;
  /**
   * Writes the files that differ between two trees. Rejects, before it writes any, if the last record has one of them with
   * another content than `from`. The next record finds the change.
   */
  write(trees: WrittenTrees): Promise<void>;
  /** Resolves when all background work has ended. The recorder must not be used afterwards. */
  close(): Promise<void>;
}

/** Two trees: the present files, and the files to write. */
export interface WrittenTrees {
  readonly from: string;
  readonly tree: string;
}

/** A workspace that was prepared. */
export interface PreparedRecorder {
  /** The opened workspace, if it is not in the log yet. */
  readonly opened: WorkspaceOpened | null;
  /** The result of the setup command, if there is one and it is not in the log yet. */
  readonly setup: SetupResult | null;
}

/** Creates the recorder of a session. */
export function createRecorder(options: RecorderOptions): WorkspaceRecorder {
  return new Recorder(options);
}

interface Request {
  readonly cause: RecordCause;
  readonly resolve: (change: WorkspaceChange | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs one record at a time. Requests that arrive in the meantime share the next record. */
class Recorder implements WorkspaceRecorder {
  readonly #options: RecorderOptions;
  readonly #calls = new CallIntervals();
  readonly #reported = new ReportedPaths();
  #tree: string | null;
  /** The tree of the workspace when the agents began to work in it. */
  #opened: string | null;
  #opening: Promise<OpenedWorkspace | null> | undefined;
  #waiting: Request[] = [];
  #recording: Promise<void> | undefined;
  #packing: Promise<void> = Promise.resolve();
  #records = 0;
  /** Named files of a record that failed. They are recorded again by name, because a scan does not find ignored files. */
  #missed: readonly BytePath[] = [];

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#tree = options.tree;
    this.#opened = options.opened ?? options.tree;
  }

  async prepare(): Promise<PreparedRecorder> {
    const workspace = await this.#open();
    if (workspace === null || this.#tree !== null) return { opened: null, setup: null };
    const { opened, setup } = workspace;
    if (opened !== null) this.#tree = this.#opened = opened.tree;
    return { opened, setup };
  }

  async diff({ from, tree }: WrittenTrees): Promise<readonly FileChange[]> {
    const { repository } = await this.#openRecorded();
    return await diffTrees(repository, from, tree);
  }

  async merge(request: MergeRequest): Promise<MergeOutcome> {
    const { repository } = await this.#openRecorded();
    const outcome = await mergeTrees(repository, request);
    await repository.sync();
    return outcome;
  }

  async findObstacles({ from, tree }: WrittenTrees): Promise<readonly MergeConflict[]> {
    const { repository, directory } = await this.#openRecorded();
    const changes = await diffTrees(repository, from, tree);
    const changed = await findChanged(repository, directory, changes);
    const moved = [...changed].map((path) => ({ path, reason: 'kind' as const }));
    return moved.length > 0 ? moved : await findObstacles(directory, changes);
  }

  async replace({ from, tree }: WrittenTrees): Promise<readonly string[]> {
    const { repository, directory } = await this.#openRecorded();
    const changes = await diffTrees(repository, from, tree);
    const changed = await findChanged(repository, directory, changes);
    const ready = changes.filter(({ path }) => !changed.has(path));
    await writeAllOrNone(repository, ready, directory);
    return [...changed];
  }

  async write({ from, tree }: WrittenTrees): Promise<void> {
    const { repository, directory, last } = await this.#openRecorded();
    const changes = await diffTrees(repository, from, tree);
    const moved = new Set((await diffTrees(repository, from, last)).map(({ path }) => path));
    const other = changes.find(({ path }) => moved.has(path));
    if (other !== undefined) throw new Error(`${other.path} was changed at the same time, and nothing was written`);
    await writeAllOrNone(repository, changes, directory);
  }

  async recordOutside({ paths }: RecordedCall): Promise<WorkspaceChange | undefined> {
    // While another call is running, a change may be made by that call.
    if (this.#calls.isOpen || (await this.#open())?.isInPlace !== true) return undefined;
    return await this.record({ type: 'outside', threadId: null, paths });
  }

  begin(call: RecordedCall): void {
    this.#calls.begin(call);
  }

  async record(cause: RecordCause): Promise<WorkspaceChange | undefined> {
    if (cause.type === 'recovered' && cause.toolUseId !== null) this.#calls.end(cause.toolUseId);
    if (cause.type === 'tool') {
      // The call began before this process started.
      if (this.#calls.find(cause.toolUseId) === undefined) this.#calls.begin({ ...cause, paths: null });
      this.#calls.end(cause.toolUseId);
    }
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ cause, resolve, reject });
      this.#recording ??= this.#run();
    });
  }

  async close(): Promise<void> {
    await this.#recording;
    const workspace = await this.#opening?.catch(() => null);
    await Promise.all([workspace?.recorder.settled(), this.#packing]);
  }

  async #open(): Promise<OpenedWorkspace | null> {
    this.#opening ??= this.#openOnce();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #openRecorded(): Promise<OpenedWorkspace & { readonly last: string }> {
    const workspace = await this.#open();
    if (workspace === null || this.#tree === null) throw new Error('the workspace is not recorded');
    return { ...workspace, last: this.#tree };
  }

  async #openOnce(): Promise<OpenedWorkspace | null> {
    const opened = await openWorkspace(this.#options);
    if (opened !== null) await this.#reported.addIgnored(opened.recorder);
    return opened;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const requests = this.#waiting;
      this.#waiting = [];
      try {
        const change = await this.#recordOnce(requests.map(({ cause }) => cause));
        // Resolved in this order, so that the first caller logs the change before the others continue.
        for (const [at, { resolve }] of requests.entries()) resolve(at === 0 ? change : undefined);
      } catch (error) {
        for (const { reject } of requests) reject(error);
      }
    }
    this.#recording = undefined;
  }

  async #recordOnce(causes: readonly RecordCause[]): Promise<WorkspaceChange | undefined> {
    const opened = await this.#open();
    const parent = this.#tree;
    if (opened === null || parent === null || !opened.isWritable) return undefined;
    const { recorder, repository, directory } = opened;
    const paths = await this.#findWritten(causes, directory);
    const ids = new Set(causes.flatMap((cause) => (cause.type === 'tool' ? [cause.toolUseId] : [])));
    const attribution = paths === undefined ? this.#calls.startScan() : this.#calls.startPaths(ids);
    const asked = (await Promise.all(causes.map((cause) => this.#findAsked(cause, directory)))).flat();
    const isEnd = causes.some(({ type }) => type !== 'tool' && type !== 'outside');
    const named = [...this.#missed, ...(paths ?? []), ...asked];
    const recorded = await attempt(parent, async () => {
      const some = await recorder.recordPaths(parent, named);
      const all = paths === undefined ? await recorder.recordAll(some.tree) : undefined;
      const { tree } = all ?? some;
      const files = await diffTrees(repository, parent, tree);
      // Must come before a frame names the tree.
      await repository.sync();
      // Only once per turn, because it scans all directories again.
      if (isEnd) await this.#reported.addIgnored(recorder);
      return { tree, files, notRecorded: [...some.notRecorded, ...(all?.notRecorded ?? [])] };
    });
    this.#missed = recorded.isComplete ? [] : named;
    if (recorded.isComplete) attribution.finish();
    const { files } = recorded;
    if (opened.isCloned && isEnd) await this.#options.backUp?.(repository, recorded.tree);
    const left = recorded.notRecorded.filter(({ path }) => !opened.clonedGit.has(path));
    const notRecorded = this.#reported.take(left, { isWhole: paths === undefined });
    if (recorded.tree === parent && notRecorded === undefined) return undefined;
    this.#tree = recorded.tree;
    this.#pack(repository);
    const calls = attribution.callsOf(files.map(({ path }) => toBytePath(path)));
    const sinceOpened = await this.#countSinceOpened(repository, parent, recorded);
    const { tree } = recorded;
    return toChange({ causes, parent, tree, files, notRecorded, calls, sinceOpened, isInPlace: opened.isInPlace });
  }

  /** The counts of all changes since the workspace was opened. Undefined if they cannot be computed: the change is logged nevertheless. */
  async #countSinceOpened(
    repository: SnapshotRepository,
    parent: string,
    { tree, files }: Outcome,
  ): Promise<FileCounts | undefined> {
    const opened = this.#opened;
    if (opened === null) return undefined;
    // The first change is the whole difference, so its files need not be compared again.
    if (opened === parent) return toCounts(files);
    return await diffTrees(repository, opened, tree).then(toCounts, () => undefined);
  }

  /** The files that the calls wrote. Undefined if one of the causes may have changed any file. */
  async #findWritten(causes: readonly RecordCause[], directory: string): Promise<BytePath[] | undefined> {
    const written = await Promise.all(
      causes.map(async (cause) => {
        if (cause.type === 'outside') return cause.paths === null ? undefined : await findFiles(directory, cause.paths);
        const call = cause.type === 'tool' ? this.#calls.find(cause.toolUseId) : undefined;
        if (call?.paths == null) return undefined;
        const files = await findFiles(directory, call.paths);
        this.#calls.setFiles(call.toolUseId, files ?? null);
        return files;
      }),
    );
    return written.every((files) => files !== undefined) ? written.flat() : undefined;
  }

  /** Files that are recorded even if they are ignored. */
  async #findAsked(cause: RecordCause, directory: string): Promise<readonly BytePath[]> {
    if (cause.type === 'tool' || cause.type === 'outside') return [];
    if (cause.type !== 'recovered') return (cause.paths ?? []).map(toBytePath);
    const call = cause.toolUseId === null ? undefined : this.#calls.find(cause.toolUseId);
    if (call?.paths == null) return [];
    const files = await findFiles(directory, call.paths);
    this.#calls.setFiles(call.toolUseId, files ?? null);
    return files ?? [];
  }

  /** Packs objects in the background, once every `RECORDS_BETWEEN_PACKS` records. */
  #pack(repository: SnapshotRepository): void {
    if (++this.#records % RECORDS_BETWEEN_PACKS === 0) this.#packing = packObjects(repository).catch(() => {});
  }
}

const RECORDS_BETWEEN_PACKS = 100;

interface Outcome extends Recorded {
  readonly files: readonly FileChange[];
}

/** Runs a record. A failure must neither fail the tool call nor be hidden: it is logged, and the next record repeats the work. */
async function attempt(
  parent: string,
  record: () => Promise<Outcome>,
): Promise<Outcome & { readonly isComplete: boolean }> {
  try {
    return { ...(await record()), isComplete: true };
  } catch (error) {
    const stamp = error instanceof Error ? error.message : String(error);
    return { tree: parent, files: [], notRecorded: [{ path: '.', reason: 'failed', stamp }], isComplete: false };
  }
}
