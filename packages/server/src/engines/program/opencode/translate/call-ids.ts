/**
 * Unique ids of calls. opencode takes its call ids from the model, which may use an id again in another
 * conversation or message, but a decision has only the id of its call.
 */
export class CallIds {
  readonly #byPart = new Map<string, string>();
  readonly #used = new Set<string>();

  /** The unique id of the call in this part: the id of the model, unless another part has it. */
  of(partId: string, callId: string): string {
    const known = this.#byPart.get(partId);
    if (known !== undefined) return known;
    const name = this.#used.has(callId) ? `${callId}.${partId}` : callId;
    this.#byPart.set(partId, name);
    this.#used.add(name);
    return name;
  }
}
