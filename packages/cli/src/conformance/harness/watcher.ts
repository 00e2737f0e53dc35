import type { StreamEvent } from '@fleetloom/protocol/managed-agents';
import type { EventOf } from '../forms/event-of.ts';
import { Mismatch } from './expect.ts';

/** An open stream, read in the background, with every event received. */
export class Watcher {
  readonly events: StreamEvent[] = [];
  /** How the stream ended; undefined while it is open. */
  ended: 'closed' | 'failed' | undefined;
  failure: unknown;
  readonly #source: { readonly controller: AbortController } & AsyncIterable<unknown>;
  readonly #signal: AbortSignal;
  #wake: () => void = () => {};

  constructor(source: { readonly controller: AbortController } & AsyncIterable<unknown>, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake());
    // Errors are stored in `failure`, which the checks read.
    this.#read().catch(() => undefined);
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  /** Events without previews. */
  get settled(): StreamEvent[] {
    return this.events.filter(({ type }) => type !== 'event_start' && type !== 'event_delta');
  }

  /** Waits for the first event of this type from index `from` on. */
  async until<Type extends StreamEvent['type']>(
    type: Type,
    { from = 0, where = () => true }: { from?: number; where?: (event: EventOf<Type>) => boolean } = {},
  ): Promise<EventOf<Type>> {
    const isIt = (event: StreamEvent) => event.type === type && where(event as unknown as EventOf<Type>);
    for (;;) {
      const found = this.events.slice(from).find(isIt);
      // The cast is safe: `isIt` compared the type.
      if (found !== undefined) return found as unknown as EventOf<Type>;
      if (this.ended !== undefined || this.#signal.aborted) {
        const state = this.ended === undefined ? 'in time' : `before the stream ${this.ended}`;
        throw new Mismatch(`a ${type} on the stream ${state}`, this.types.slice(from).join(' → ') || 'nothing');
      }
      await new Promise<void>((resolve) => {
        this.#wake = chain(this.#wake, resolve);
      });
    }
  }

  async untilEnd(): Promise<void> {
    while (this.ended === undefined) {
      if (this.#signal.aborted) throw new Mismatch('the stream to end', this.types.join(' → '));
      await new Promise<void>((resolve) => {
        this.#wake = chain(this.#wake, resolve);
      });
    }
  }

  close(): void {
    this.#source.controller.abort();
  }

  async #read(): Promise<void> {
    try {
      for await (const event of this.#source) {
        // The forms of both are compared when the contract is compiled.
        this.events.push(event as StreamEvent);
        this.#wakeAll();
      }
      this.ended = 'closed';
    } catch (error) {
      this.ended = 'failed';
      this.failure = error;
    }
    this.#wakeAll();
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = () => {};
    wake();
  }
}

/** Calls both functions, because several callers may wait for the same stream. */
function chain(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}
