import type { RepositoryProblem } from '../../frames/payload-parts.ts';
import type { PrepareWorkspace } from './prepare-workspace.ts';

/** What preparing the workspace of a session needs. */
export interface WorkspacePreparationOptions {
  readonly sessionId: string;
  /** Null if the workspace has no source. */
  readonly prepareWorkspace: PrepareWorkspace | null;
  readonly open: () => Promise<string>;
  /** Files were put into the workspace that no agent wrote. */
  readonly onCloned: () => Promise<void>;
  readonly onProblems: (problems: readonly RepositoryProblem[]) => Promise<void>;
}

/** Prepares the workspace of a session: before its first run, and again before each run for what could not be prepared. */
export class WorkspacePreparation {
  readonly #options: WorkspacePreparationOptions;
  readonly #stop = new AbortController();
  #preparing: Promise<void> | undefined;
  #isUnderWay = false;

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
    const { prepareWorkspace, sessionId, open, onCloned, onProblems } = this.#options;
    this.#isUnderWay = true;
    const { problems, hasCloned } = await prepareWorkspace!(sessionId, open, this.#stop.signal);
    if (hasCloned) await onCloned();
    this.#isUnderWay = false;
    if (problems.length > 0) await onProblems(problems);
  }
}
