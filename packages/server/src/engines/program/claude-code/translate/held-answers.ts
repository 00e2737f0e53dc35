import { programLimits } from '../../limits.ts';
import type { GatewayEvent } from '../../gateway/events.ts';

/** A response that waits for its lines. */
export interface HeldAnswer {
  readonly requestId: string;
  readonly messageId: string;
  /** The events of the response, from `begun` on. */
  readonly events: readonly GatewayEvent[];
}

/**
 * Responses to one thread that the gateway saw before their lines arrived. At the limit they are dropped, and their text
 * arrives with the lines, block by block.
 */
export class HeldAnswers {
  #answers: (HeldAnswer & { readonly events: GatewayEvent[] })[] = [];
  #count = 0;

  get isEmpty(): boolean {
    return this.#answers.length === 0;
  }

  push(event: GatewayEvent): void {
    const { requestId, messageId } = event;
    if (messageId !== null && event.event.type === 'begun') this.#answers.push({ requestId, messageId, events: [] });
    // A response whose beginning was dropped is dropped as a whole.
    const answer = this.#answers.find((each) => each.requestId === requestId);
    if (answer === undefined) return;
    answer.events.push(event);
    this.#count++;
    if (this.#count > programLimits.programTappedEventsMax) this.#clear();
  }

  /** Removes and returns the oldest response. */
  takeFirst(): HeldAnswer | undefined {
    const [first] = this.#answers.splice(0, 1);
    this.#count -= first?.events.length ?? 0;
    return first;
  }

  /** Removes and returns the response with this message, which has a line. Older responses are dropped, because their lines do not come any more. */
  takeUntil(messageId: string): HeldAnswer | undefined {
    while (!this.isEmpty) {
      const first = this.takeFirst();
      if (first?.messageId === messageId) return first;
    }
    return undefined;
  }

  #clear(): void {
    this.#answers = [];
    this.#count = 0;
  }
}
