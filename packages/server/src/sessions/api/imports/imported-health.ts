import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { sessionLimits } from '../../core/limits.ts';
import { openCallsOf, type SessionState } from '../../core/state/state.ts';

/** The activity of threads of imported sessions, as far as their transcripts show it. */
export class ImportedHealth {
  readonly #threads = new Map<string, readonly ThreadHealth[]>();

  /** The health of the threads of a session; undefined if no client follows it on this server. */
  of(sessionId: string): readonly ThreadHealth[] | undefined {
    return this.#threads.get(sessionId);
  }

  /** Records the state after an import. `isEnd`: no client follows the session any more. */
  update(state: SessionState, isEnd: boolean): void {
    this.#threads.delete(state.id);
    if (isEnd) return;
    this.#threads.set(state.id, toThreads(state));
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > sessionLimits.importsFollowedMax && oldest !== undefined) this.#threads.delete(oldest);
  }
}

function toThreads({ threads }: SessionState): readonly ThreadHealth[] {
  return [...threads.values()].flatMap((thread) => {
    if (thread.turn === null) return [];
    const since = new Date(thread.turn.startedAt).toISOString();
    return [{ id: thread.id, since, doing: 'elsewhere', tool: openCallsOf(thread)[0]?.name ?? null }];
  });
}
