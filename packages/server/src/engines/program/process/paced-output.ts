/** Options of pacing the output of a program. */
export interface PacedOutputOptions {
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Called after some pieces of output, before other events are handled, with the number of their bytes. */
  readonly onPassed?: ((bytes: number) => void) | undefined;
  /** Makes the program wait: its output stays in the pipe. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * The output of a program, passed on for a few milliseconds at a time: Node reads a pipe many times within one iteration
 * of the event loop, and a program that writes nothing but tiny lines would block all sessions.
 */
export class PacedOutput {
  readonly #options: PacedOutputOptions;
  #waiting: Uint8Array[] = [];
  #isHeld = false;
  /** The time until which output is passed on in this iteration of the event loop. */
  #turnEnd: number | undefined;
  #onEmpty: () => void = () => {};

  constructor(options: PacedOutputOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#passOn();
  }

  /** Stops passing on output, because the reader is behind. */
  hold(): void {
    this.#isHeld = true;
    this.#options.pause();
  }

  release(): void {
    this.#isHeld = false;
    this.#passOn();
  }

  /** Resolves when all output was passed on. */
  async empty(): Promise<void> {
    this.release();
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  #passOn(): void {
    const turnEnd = this.#beginTurn();
    let passed = 0;
    while (this.#waiting.length > 0 && !this.#isHeld && performance.now() < turnEnd) {
      const [first, ...rest] = this.#waiting;
      const isLong = first!.length > PIECE_BYTES;
      this.#waiting = isLong ? [first!.subarray(PIECE_BYTES), ...rest] : rest;
      const piece = isLong ? first!.subarray(0, PIECE_BYTES) : first!;
      passed += piece.length;
      this.#options.onOutput(piece);
    }
    if (passed > 0) this.#options.onPassed?.(passed);
    if (this.#isHeld) return;
    if (this.#waiting.length > 0) return this.#options.pause();
    this.#options.resume();
    this.#onEmpty();
  }

  #beginTurn(): number {
    if (this.#turnEnd !== undefined) return this.#turnEnd;
    this.#turnEnd = performance.now() + TURN_MS;
    setImmediate(() => {
      this.#turnEnd = undefined;
      if (this.#waiting.length > 0) this.#passOn();
    });
    return this.#turnEnd;
  }
}

const TURN_MS = 8;
const PIECE_BYTES = 4 * 1024;
