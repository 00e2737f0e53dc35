import { fleetLimits } from '@fleetloom/protocol/fleet';
import type { NewSessionFrame } from '../../frames/frames.ts';
import type { Change } from '../../store/write.ts';
import type { SessionState } from '../core/state/state.ts';
import { type ThreadActivity, toSummary } from '../core/state/to-summary.ts';

/** When the threads of a session last received text. Deltas are not part of the state, so the summary would not contain this time. */
export class SessionActivity {
  readonly #state: SessionState;
  readonly #threads = new Map<string, ThreadActivity>();
  /** The activity of each thread at the last write of its summary for activity. */
  readonly #written = new Map<string, number>();

  constructor(state: SessionState) {
    this.#state = state;
  }

  get threads(): ReadonlyMap<string, ThreadActivity> {
    return this.#threads;
  }

  /** Called before a delta is written. Returns the change of the summary to write with it, if the summary is too old. */
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
