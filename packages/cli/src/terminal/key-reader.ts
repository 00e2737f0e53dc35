import type { Io } from '../io.ts';
import { limits } from '../limits.ts';
import { type Key, parseKeys } from './parse-keys.ts';

/**
 * Keys as they come from a terminal, in pieces of any size. What may be the beginning of a key waits a moment for its
 * rest: over a slow line an arrow would else be Esc and two letters, and letters do something here.
 */
export class KeyReader {
  readonly #timers: Io['timers'];
  readonly #onKey: (key: Key) => void;
  #held = '';
  #cancel = () => {};
  #isStopped = false;

  constructor({ timers }: Pick<Io, 'timers'>, onKey: (key: Key) => void) {
    this.#timers = timers;
    this.#onKey = onKey;
  }

  push(text: string): void {
    this.#cancel();
    const all = this.#held + text;
    const [start = ''] = UNFINISHED.exec(all) ?? [];
    this.#held = start;
    this.#give(all.slice(0, all.length - start.length));
    if (start !== '') this.#cancel = this.#timers.after(limits.keyMs, () => this.#flush());
  }

  /** Nothing is given any more, also not what came together with the key that ended it. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #flush(): void {
    const held = this.#held;
    this.#held = '';
    this.#give(held);
  }

  #give(text: string): void {
    for (const key of parseKeys(text)) if (!this.#isStopped) this.#onKey(key);
  }
}

// oxlint-disable-next-line no-control-regex -- terminals send it
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|O)?$/;
