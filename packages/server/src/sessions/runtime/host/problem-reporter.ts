import { inBackground, reportAsWarning } from '../../../base/in-background.ts';
import type { Store } from '../../../store/store.ts';
import { isStoreError } from '../../../store/store-errors.ts';
import type { HostOptions } from './host-options.ts';

/** Reports failures of background work, except those of sessions that were deleted in the meantime. */
export class ProblemReporter {
  readonly #store: Pick<Store, 'heads'>;
  readonly #onProblem: HostOptions['onProblem'];
  #isClosed = false;

  constructor({ store, onProblem }: Pick<HostOptions, 'store' | 'onProblem'>) {
    this.#store = store;
    this.#onProblem = onProblem;
  }

  /** Reports the failure of work that no caller waits for. */
  watch(sessionId: string, work: Promise<unknown>): void {
    work.catch((error: unknown) => this.report(sessionId, error));
  }

  /** Reports an error of a session. The empty id stands for the host itself. */
  report(sessionId: string, error: unknown): void {
    if (isStoreError(error, 'not_found')) inBackground(this.#reportUnlessDeleted(sessionId, error), reportAsWarning);
    else this.#emit(sessionId, error);
  }

  /** Failures after this are not reported: closing stops work half-way. */
  close(): void {
    this.#isClosed = true;
  }

  /** A client may delete a session while another process is about to open it: that is not a failure. */
  async #reportUnlessDeleted(sessionId: string, error: unknown): Promise<void> {
    const isThere = await this.#store.heads([sessionId]).then(
      (heads) => heads.has(sessionId),
      () => true,
    );
    if (isThere) this.#emit(sessionId, error);
  }

  #emit(sessionId: string, error: unknown): void {
    if (!this.#isClosed) this.#onProblem?.(sessionId, error);
  }
}
