import type { PreparationProblem } from '../../frames/payload-parts.ts';
import type { SetupResult } from '../../workspaces/workspace-source.ts';
import type { PrepareWorkspace } from './prepare-workspace.ts';

/** What preparing the workspace of a session needs. */
export interface WorkspacePreparationOptions {
  readonly sessionId: string;
  /** Null if the workspace has no source. */
  readonly prepareWorkspace: PrepareWorkspace | null;
  readonly open: () => Promise<string>;
  /** Files were put into the workspace that no agent wrote. */
  readonly onCloned: () => Promise<void>;
  /** A setup command of a repository has ended. */
  readonly onSetup: (setup: SetupResult) => Promise<void>;
  readonly onProblems: (problems: readonly PreparationProblem[]) => Promise<void>;
}

/** Prepares the workspace of a session: before its first run, and again before each run for what could not be prepared. */
export class WorkspacePreparation {
  readonly #options: WorkspacePreparationOptions;
  readonly #stop = new AbortController();
  #preparing: Promise<void> | undefined;
  #isUnderWay = false;
  #failedSetup: SetupResult | null = null;

  constructor(options: WorkspacePreparationOptions) {
    this.#options = options;
  }

  /** Whether a release would lose what is being prepared. */
  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /** Whether there is anything to prepare. */
  get isNeeded(): boolean {
    return this.#options.prepareWorkspace !== null;
  }

  /** The setup command of a repository that has failed. */
  get failedSetup(): SetupResult | null {
    return this.#failedSetup;
  }

  /** A run begins: what could not be prepared for the last one is tried again. */
  beginRun(): void {
    if (!this.#isUnderWay) this.#preparing = undefined;
  }

  /** Resolves when the workspace is prepared for the present run, and what could not be prepared is logged. Never rejects. */
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
