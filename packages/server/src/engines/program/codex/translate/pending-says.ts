/** A message to the main agent. */
interface Said {
  /** The turn that it became part of; null until the program has answered. */
  turnId: string | null;
}

/**
 * Messages to the main agent that no turn has ended with. A message joins the turn that is under way, or begins one; which of
 * them is known by the answer of the program, and a turn may end before that.
 */
export class PendingSays {
  readonly #says = new Set<Said>();

  get isEmpty(): boolean {
    return this.#says.size === 0;
  }

  add(): Said {
    const said: Said = { turnId: null };
    this.#says.add(said);
    return said;
  }

  join(said: Said, turnId: string): void {
    said.turnId = turnId;
  }

  remove(said: Said): void {
    this.#says.delete(said);
  }

  /** A turn has ended. Returns whether a message waits for another one. */
  end(turnId: string): boolean {
    for (const said of this.#says) if (said.turnId === turnId) this.#says.delete(said);
    return this.#says.size > 0;
  }
}
