import type { Cancel, Schedule } from '../../../base/schedule.ts';
import type { Turn } from '../../../store/frame.ts';
import { sessionLimits } from '../../core/limits.ts';
import type { SessionState } from '../../core/state/state.ts';

/** Timers of turns that are being stopped. Each turn has its own, so that interrupts of other threads do not extend it. */
export class StopTimers {
  readonly #options: { readonly state: SessionState; readonly schedule: Schedule };
  readonly #onOverdue: () => void;
  readonly #timers = new Set<Cancel>();

  constructor(options: { readonly state: SessionState; readonly schedule: Schedule }, onOverdue: () => void) {
    this.#options = options;
    this.#onOverdue = onOverdue;
  }

  /** Calls `onOverdue` if the same turn of the thread is still being stopped after `programStopMs`. */
  watch(threadId: string, stopped: Turn | null): void {
    const cancel = this.#options.schedule(() => {
      this.#timers.delete(cancel);
      const turn = this.#options.state.threads.get(threadId)?.turn ?? null;
      const isSame = turn?.run === stopped?.run && turn?.streamId === stopped?.streamId;
      if (turn !== null && turn.stopping !== null && isSame) this.#onOverdue();
    }, sessionLimits.programStopMs);
    this.#timers.add(cancel);
  }

  cancel(): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
