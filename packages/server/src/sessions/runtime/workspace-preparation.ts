import type { PreparationProblem } from '../../frames/payload-parts.ts';
import type { SetupResult } from '../../workspaces/workspace-source.ts';
import type { PrepareWorkspace } from './prepare-workspace.ts';

/** What preparing the workspace of a session needs. */
export interface WorkspacePreparationOptions {
  readonly sessionId: string;
  /** Null if the workspace has no source. */
  readonly prepareWorkspace: PrepareWorkspace | null;
  readonly open: () => Promise<string>;
  /** Called when the server has put files into the workspace. */
  readonly onCloned: () => Promise<void>;
  /** Called when a setup command of a repository has ended. */
  readonly onSetup: (setup: SetupResult) => Promise<void>;
  readonly onProblems: (problems: readonly PreparationProblem[]) => Promise<void>;
}

/** Prepares the workspace of a session: before its first run, and before each later run for parts that could not be prepared. */
export class WorkspacePreparation {
  readonly #options: WorkspacePreparationOptions;
  readonly #stop = new AbortController();
  #preparing: Promise<void> | undefined;
  #isUnderWay = false;
  #failedSetup: SetupResult | null = null;

  constructor(options: WorkspacePreparationOptions) {
    this.#options = options;
  }

  /** Whether a preparation is in progress that a release would lose. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** Whether there is anything to prepare. */
  get isNeeded(): boolean {
    return this.#options.prepareWorkspace !== null;
  }

  /** The result of the setup command that has failed; null if none has. */
  get failedSetup(): SetupResult | null {
    return this.#failedSetup;
  }

  /** Called when a run begins: parts that could not be prepared for the last run are tried again. */
  beginRun(): void {
    if (!this.#isUnderWay) this.#preparing = undefined;
  }

  /** Resolves when the workspace is prepared for the current run, and problems are logged. Never rejects. */
  async prepare(): Promise<void> {
    if (this.isNeeded) await (this.#preparing ??= this.#prepare());
  }

  stop(): void {
    this.#stop.abort();
  }

  async #prepare(): Promise<void> {
    const { prepareWorkspace, sessionId, open, onCloned, onSetup, onProblems } = this.#options;
    this.#isUnderWay = true;
    const { signal } = this.#stop;
    const { problems, hasNewFiles, failedSetup } = await prepareWorkspace!(sessionId, open, signal, onSetup);
    this.#failedSetup = failedSetup;
    if (hasNewFiles) await onCloned();
    this.#isUnderWay = false;
    if (problems.length > 0) await onProblems(problems);
  }
}
