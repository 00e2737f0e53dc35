import { fleetLimits } from '@fleetloom/protocol/fleet';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { Change } from '../../store/write.ts';
import type { SessionState } from '../core/state/state.ts';
import { type ThreadActivity, toSummary } from '../core/state/to-summary.ts';

/** When the threads of a session last received text. Deltas are not part of the state, so the summary would not have it. */
export class SessionActivity {
  readonly #state: SessionState;
  readonly #threads = new Map<string, ThreadActivity>();
  /** The activity of each thread as its summary was last written because of it. */
  readonly #written = new Map<string, number>();

  constructor(state: SessionState) {
    this.#state = state;
  }

  get threads(): ReadonlyMap<string, ThreadActivity> {
    return this.#threads;
  }

  /** A delta is about to be written. Returns the change that goes with it, if the summary is not recent enough. */
  note({ threadId, type, time }: NewSessionFrame): Change[] {
    if (threadId === null) return [];
    const isQueued = type === 'delta.queued';
    const wasQueued = this.#threads.get(threadId)?.isQueued ?? false;
    this.#threads.set(threadId, { at: time, isQueued });
    const known = Math.max(this.#written.get(threadId) ?? 0, this.#state.threads.get(threadId)?.updatedAt ?? 0);
    if (isQueued === wasQueued && time - known < fleetLimits.activityMs) return [];
    this.#written.set(threadId, time);
    return [{ type: 'put_summary', summary: toSummary(this.#state, this.#threads) }];
  }
}
