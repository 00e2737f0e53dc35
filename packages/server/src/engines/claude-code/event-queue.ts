/**
 * Events on their way to one reader, who takes all that are there at a time. Who fills it hears when too much waits, and
 * when there is room again.
 */
export class EventQueue<Event> implements AsyncIterable<readonly Event[]> {
  readonly #options: EventQueueOptions;
  #events: Event[] = [];
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
    if (this.#isEnded) return;
    for (const event of events) this.#events.push(event);
    this.#size += size;
    if (!this.#isFull && this.#size >= this.#options.sizeMax) {
      this.#isFull = true;
      this.#options.onFull();
    }
    if (events.length > 0) this.#wake();
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

  #take(): readonly Event[] {
    const taken = this.#events;
    this.#events = [];
    this.#size = 0;
    if (this.#isFull) {
      this.#isFull = false;
      this.#options.onRoom();
    }
    return taken;
  }
}

export interface EventQueueOptions {
  readonly sizeMax: number;
  readonly onFull: () => void;
  readonly onRoom: () => void;
}
