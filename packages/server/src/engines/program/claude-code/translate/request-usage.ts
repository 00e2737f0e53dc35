import type { Usage } from '../../../model/engine.ts';
import { addUsage, noUsage, subtractUsage } from './usage.ts';

/**
 * What the model requests of a program used. Requests of the main agent report it, those of sub-agents only through the gateway.
 * The program counts all agents together when a turn of the main agent ends: what no request reported is added to its last one.
 */
export class RequestUsage {
  /** What requests have reported, and what the program has counted. */
  #reported = noUsage;
  #counted = noUsage;
  /** The last request of each thread: a line of it may come after it was taken to be over. */
  readonly #last = new Map<string, { readonly messageId: string; readonly usage: Usage }>();
  /** Newer programs continue the count of an earlier process, so that their first count says nothing. */
  #isFirstCountTotal: boolean;

  constructor({ isResumed = false } = {}) {
    this.#isFirstCountTotal = isResumed;
  }

  /** The message that the thread was answered with before. */
  lastMessageOf(key: string): string | undefined {
    return this.#last.get(key)?.messageId;
  }

  /** A request has ended. Returns what of its usage was not reported before. */
  report(key: string, messageId: string, usage: Usage): Usage {
    const last = this.#last.get(key);
    const before = last?.messageId === messageId ? last.usage : noUsage;
    const more = subtractUsage(usage, before);
    this.#last.set(key, { messageId, usage: addUsage(before, more) });
    this.#reported = addUsage(this.#reported, more);
    return more;
  }

  /** The program counted so much for the turn. Returns what neither ended requests nor the open one (`open`) reported. */
  count(turn: Usage, open: Usage): Usage {
    const reported = addUsage(this.#reported, open);
    this.#counted = this.#isFirstCountTotal ? reported : addUsage(this.#counted, turn);
    this.#isFirstCountTotal = false;
    return subtractUsage(this.#counted, reported);
  }
}
