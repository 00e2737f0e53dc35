/**
 * Unique ids of calls. Codex takes its ids from the model, so they are unique in a thread at best: two sub-agents, or two turns, may
 * have calls with the same id, but a decision has only the id of its call.
 */
export class CallIds {
  readonly #used = new Map<string, number>();
  readonly #places = new Map<string, { readonly threadId: string; readonly itemId: string }>();

  /** Returns a unique id for a call. */
  add(threadId: string, itemId: string): string {
    const times = (this.#used.get(itemId) ?? 0) + 1;
    this.#used.set(itemId, times);
    const callId = times === 1 ? itemId : `${itemId}#${times}`;
    this.#places.set(callId, { threadId, itemId });
    return callId;
  }

  /** The ids of the thread and the item of a call; undefined for an unknown call. */
  find(callId: string): { readonly threadId: string; readonly itemId: string } | undefined {
    return this.#places.get(callId);
  }
}
