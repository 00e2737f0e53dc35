import type { TurnOutcome } from '../../program.ts';

/**
 * Counts the turns of the main agent: open turns, messages that no turn has taken, and whether the program is about
 * to begin a turn on its own. It always does when a sub-agent in the background ends, to read the report.
 */
export class Turns {
  #open = 0;
  /** Messages that were sent to the program and are not yet part of a turn. */
  #untaken = 0;
  /** Sub-agents that ended during a turn. The turn may have read their reports or not. */
  #unread = 0;
  /** Sub-agents with unread reports when the turn began. */
  #unreadBefore = 0;
  #isExpecting = false;
  /** The program repeats messages when they become part of a turn. */
  #repeatsMessages = false;

  /** Whether the program is about to begin a turn on its own. */
  get isExpecting(): boolean {
    return this.#isExpecting;
  }

  get areResting(): boolean {
    return this.#open === 0 && this.#untaken === 0;
  }

  said(): void {
    this.#untaken++;
  }

  /** Records that the program has repeated a message, which means that a turn has taken it. */
  taken(): void {
    this.#repeatsMessages = true;
    this.#untaken = Math.max(0, this.#untaken - 1);
  }

  start(): void {
    this.#open++;
    this.#isExpecting = false;
    this.#unreadBefore = this.#unread;
    this.#unread = 0;
  }

  /** Ends a turn. Returns whether another turn follows. */
  end({ isOwn, outcome, queuedTurns, isLocal = false }: EndedTurn): boolean {
    // The turn had no model request, so it has not read a report.
    if (isLocal) this.#unread += this.#unreadBefore;
    this.#open = Math.max(0, this.#open - 1);
    // A message that the program has not repeated by the end of a turn is queued: its turn comes next.
    const isQueued = this.#untaken > 0 && (outcome === 'stopped' || (this.#repeatsMessages && outcome === 'done'));
    // Any other turn was begun by a message of this server that the program has not repeated.
    if (!isOwn && !isQueued) this.#untaken = 0;
    const isReportUnread = this.#unread > 0 && outcome === 'done';
    this.#isExpecting = this.#open === 0 && (isQueued || isReportUnread || queuedTurns > 0);
    this.#unread = 0;
    return this.#untaken > 0 || this.#isExpecting;
  }

  /** Records that a sub-agent in the background has ended. Returns whether a turn is newly expected. */
  report(): boolean {
    if (!this.areResting) {
      this.#unread++;
      return false;
    }
    this.#isExpecting = true;
    return true;
  }

  /** Stops expecting a turn. Returns whether a turn was expected. */
  giveUp(): boolean {
    const wasExpecting = this.#isExpecting;
    this.#isExpecting = false;
    if (wasExpecting) this.#untaken = 0;
    return wasExpecting;
  }
}

/** A turn that has ended. */
export interface EndedTurn {
  /** The program had begun the turn on its own. */
  readonly isOwn: boolean;
  readonly outcome: TurnOutcome['type'];
  /** Number of queued turns that the program reports. Only newer releases report it. */
  readonly queuedTurns: number;
  /** The program has answered without a model: a slash command. */
  readonly isLocal?: boolean;
}
