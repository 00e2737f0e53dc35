import type { StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { inBackground, reportAsWarning } from '../../../../base/in-background.ts';

/** Options of ordering lines. */
export interface LineOrderOptions {
  /** Takes the transcript records that precede the line; undefined for almost every line. */
  readonly before: (line: StreamJsonMessage) => Promise<void> | undefined;
  readonly take: (line: StreamJsonMessage) => void;
  /** Called when `before` rejects. The line is taken afterwards. */
  readonly onFailure: (error: unknown) => void;
  /** Called when lines begin to wait: the program should be paused. */
  readonly onHold: () => void;
  /** Called when no line waits any more. */
  readonly onRelease: () => void;
}

/** Keeps the lines of a program in their order while one of them waits for a read of a transcript. */
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

  /** Runs `end` after all lines, and after the promise of `before`. */
  end(before: () => Promise<void> | undefined, end: () => void): void {
    if (this.#isHeld) this.#waiting.push(() => this.#after(before(), end));
    else this.#after(before(), end);
  }

  /** Runs `before` after the lines that wait and before the lines that follow. */
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
