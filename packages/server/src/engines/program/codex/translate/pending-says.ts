/** A message to the main agent. */
interface Said {
  /** The turn that the message joined; null until the program has responded. */
  turnId: string | null;
}

/**
 * Messages to the main agent whose turn has not ended. A message joins the running turn or begins one;
 * the response of the program has the turn, and a turn may end before the response arrives.
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

  /** Removes the messages of a turn that has ended. Returns whether a message waits for another turn. */
  end(turnId: string): boolean {
    for (const said of this.#says) if (said.turnId === turnId) this.#says.delete(said);
    return this.#says.size > 0;
  }
}
