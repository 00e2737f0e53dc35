/**
 * A queue of events for one reader, which takes all available events up to a size at a time. The producer is notified when the
 * queue is full, and when it has room again.
 */
export class EventQueue<Event> implements AsyncIterable<readonly Event[]> {
  readonly #options: EventQueueOptions;
  #waiting: { readonly events: readonly Event[]; readonly size: number }[] = [];
  #size = 0;
  #isFull = false;
  #isEnded = false;
  #wake: () => void = () => {};

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  push(events: readonly Event[], size: number): void {
    if (this.#isEnded || events.length === 0) return;
    this.#waiting.push({ events, size });
    this.#size += size;
    if (!this.#isFull && this.#size >= this.#options.sizeMax) {
      this.#isFull = true;
      this.#options.onFull();
    }
    this.#wake();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Event[]> {
    while (true) {
      const taken = this.#take();
      if (taken.length > 0) yield taken;
      else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Takes the next events. Events that were pushed at once stay together, even if they exceed the size. */
  #take(): readonly Event[] {
    let size = 0;
    const end = this.#waiting.findIndex((next, index) => {
      size += next.size;
      return index > 0 && size > this.#options.takeMax;
    });
    const taken = this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
    for (const each of taken) this.#size -= each.size;
    // Not at the first byte of room, because pausing and resuming the producer often is expensive.
    if (this.#isFull && this.#size <= this.#options.sizeMax / 2) {
      this.#isFull = false;
      this.#options.onRoom();
    }
    return taken.length === 1 ? taken[0]!.events : taken.flatMap(({ events }) => events);
  }
}

/** Limits of an event queue and its callbacks. */
export interface EventQueueOptions {
  /** Size of waiting events at which the queue is full. */
  readonly sizeMax: number;
  /** Size of the events that the reader takes at a time. */
  readonly takeMax: number;
  readonly onFull: () => void;
  readonly onRoom: () => void;
}
