/**
 * The names of calls for the rest of the server. Opencode's call ids are those of the model, which may use one again in another
 * conversation or message, and decisions name a call by nothing else.
 */
export class CallIds {
  readonly #byPart = new Map<string, string>();
  readonly #used = new Set<string>();

  /** The name of the call in this part: the id of the model, unless another part has it. */
  of(partId: string, callId: string): string {
    const known = this.#byPart.get(partId);
    if (known !== undefined) return known;
    const name = this.#used.has(callId) ? `${callId}.${partId}` : callId;
    this.#byPart.set(partId, name);
    this.#used.add(name);
    return name;
  }
}
