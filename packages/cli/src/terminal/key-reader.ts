import type { Io } from '../base/io.ts';
import { limits } from '../base/limits.ts';
import { type Key, parseKeys } from './parse-keys.ts';

/**
 * Parses keys from terminal input in chunks of any size. An incomplete escape sequence waits briefly for its rest: on a slow
 * connection an arrow key would otherwise be Esc and two letters, which are commands.
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

  /** Stops; keys in the same chunk after the current one are dropped. */
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
