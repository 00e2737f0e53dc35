import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { inBackground, reportAsWarning } from '../../../../base/in-background.ts';

/** Options of ordering lines. */
export interface LineOrderOptions {
  /** Takes what has to be taken before the line; undefined for almost every line. */
  readonly before: (line: StreamJsonMessage) => Promise<void> | undefined;
  readonly take: (line: StreamJsonMessage) => void;
  /** What had to be taken before a line could not be. The line is taken afterwards. */
  readonly onFailure: (error: unknown) => void;
  /** Lines wait: the program should not write more of them. */
  readonly onHold: () => void;
  /** No line waits any more. */
  readonly onRelease: () => void;
}

/** Keeps the lines of a program in their order while one of them waits for what is read from a transcript. */
export class LineOrder {
  readonly #options: LineOrderOptions;
  #waiting: (() => void)[] = [];
  #isHeld = false;

  constructor(options: LineOrderOptions) {
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
  end(before: () => Promise<void> | undefined, end: () => void): void {
    if (this.#isHeld) this.#waiting.push(() => this.#after(before(), end));
    else this.#after(before(), end);
  }

  /** Takes what can be recovered now, behind the lines that wait and before those that follow. */
  recover(before: () => Promise<void> | undefined): void {
    this.end(before, () => {});
  }

  #take(line: StreamJsonMessage): void {
    this.#after(this.#options.before(line), () => this.#options.take(line));
  }

  #after(before: Promise<void> | undefined, run: () => void): void {
    if (before === undefined) return run();
    this.#isHeld = true;
    this.#options.onHold();
    const failed = before.then(undefined, (error: unknown) => this.#options.onFailure(error));
    inBackground(
      failed.then(run).finally(() => this.#release()),
      reportAsWarning,
    );
  }

  #release(): void {
    this.#isHeld = false;
    while (this.#waiting.length > 0 && !this.#isHeld) this.#waiting.shift()!();
    if (!this.#isHeld) this.#options.onRelease();
  }
}
