import type { ThreadHealth } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import { openCallsOf, type SessionState } from '../state.ts';

/** What the threads of imported sessions do, as far as their transcripts say. */
export class ImportedHealth {
  readonly #threads = new Map<string, readonly ThreadHealth[]>();

  /** Undefined if no client follows the session on this server. */
  of(sessionId: string): readonly ThreadHealth[] | undefined {
    return this.#threads.get(sessionId);
  }

  /** What was imported of the session has changed, or ended. */
  update(state: SessionState, isEnd: boolean): void {
    this.#threads.delete(state.id);
    if (isEnd) return;
    this.#threads.set(state.id, toThreads(state));
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > limits.importsFollowedMax && oldest !== undefined) this.#threads.delete(oldest);
  }
}

function toThreads({ threads }: SessionState): readonly ThreadHealth[] {
  return [...threads.values()].flatMap((thread) => {
    if (thread.turn === null) return [];
    const since = new Date(thread.turn.startedAt).toISOString();
    return [{ id: thread.id, since, doing: 'elsewhere', tool: openCallsOf(thread)[0]?.name ?? null }];
  });
}
