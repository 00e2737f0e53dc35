import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { inBackground, reportAsWarning } from '../../../base/in-background.ts';

export interface LineOrderOptions<Recovered> {
  /** What has to be taken before the line; undefined for almost every line. Never rejects. */
  readonly before: (line: StreamJsonMessage) => Promise<Recovered> | undefined;
  readonly takeRecovered: (recovered: Recovered) => void;
  readonly take: (line: StreamJsonMessage) => void;
  /** Lines wait: the program should not write more of them. */
  readonly onHold: () => void;
  /** No line waits any more. */
  readonly onRelease: () => void;
}

/** Keeps the lines of a program in their order while one of them waits for what is read from a transcript. */
export class LineOrder<Recovered> {
  readonly #options: LineOrderOptions<Recovered>;
  #waiting: (() => void)[] = [];
  #isHeld = false;

  constructor(options: LineOrderOptions<Recovered>) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  push(line: StreamJsonMessage): void {
    if (this.#isHeld) this.#waiting.push(() => this.#take(line));
    else this.#take(line);
  }

  /** Runs `end` behind all lines, and behind what `before` still has to recover. */
  end(before: () => Promise<Recovered> | undefined, end: () => void): void {
    if (this.#isHeld) this.#waiting.push(() => this.#after(before(), end));
    else this.#after(before(), end);
  }

  #take(line: StreamJsonMessage): void {
    this.#after(this.#options.before(line), () => this.#options.take(line));
  }

  #after(before: Promise<Recovered> | undefined, run: () => void): void {
    if (before === undefined) return run();
    this.#isHeld = true;
    this.#options.onHold();
    const release = (recovered?: Recovered) => {
      if (recovered !== undefined) this.#options.takeRecovered(recovered);
      run();
      this.#release();
    };
    inBackground(
      before.then(release, () => release()),
      reportAsWarning,
    );
  }

  #release(): void {
    this.#isHeld = false;
    while (this.#waiting.length > 0 && !this.#isHeld) this.#waiting.shift()!();
    if (!this.#isHeld) this.#options.onRelease();
  }
}
