import type { Usage } from '../../../model/engine.ts';
import { addUsage, noUsage, subtractUsage } from './usage.ts';

/**
 * The usage of a program's model requests. Requests of the main agent report it; requests of sub-agents only through the gateway.
 * When a turn of the main agent ends, the program reports the total of all agents: usage that no request reported is added to the last request.
 */
export class RequestUsage {
  /** The total that requests have reported, and the total that the program has counted. */
  #reported = noUsage;
  #counted = noUsage;
  /** The last request of each thread, because a line of it may come after its end was reported. */
  readonly #last = new Map<string, { readonly messageId: string; readonly usage: Usage }>();
  /** Newer programs continue the count of an earlier process, so their first count is not the usage of one turn. */
  #isFirstCountTotal: boolean;

  constructor({ isResumed = false } = {}) {
    this.#isFirstCountTotal = isResumed;
  }

  /** The message id of the thread's last response. */
  lastMessageOf(key: string): string | undefined {
    return this.#last.get(key)?.messageId;
  }

  /** Records the usage of an ended request. Returns the part that was not reported before. */
  report(key: string, messageId: string, usage: Usage): Usage {
    const last = this.#last.get(key);
    const before = last?.messageId === messageId ? last.usage : noUsage;
    const more = subtractUsage(usage, before);
    this.#last.set(key, { messageId, usage: addUsage(before, more) });
    this.#reported = addUsage(this.#reported, more);
    return more;
  }

  /** Records the program's count for a turn. Returns the part that neither ended requests nor the open one (`open`) reported. */
  count(turn: Usage, open: Usage): Usage {
    const reported = addUsage(this.#reported, open);
    this.#counted = this.#isFirstCountTotal ? reported : addUsage(this.#counted, turn);
    this.#isFirstCountTotal = false;
    return subtractUsage(this.#counted, reported);
  }
}
