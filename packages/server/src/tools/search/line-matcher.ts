import { Worker } from 'node:worker_threads';
import { ToolFailure } from '../tool-failure.ts';

export interface LineMatcherOptions {
  readonly pattern: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly lineCharsMax: number;
}

export interface LineMatch {
  readonly number: number;
  readonly line: string;
}

/**
 * Matches lines in a thread of its own. Some expressions take forever on some lines, and nothing but the end of
 * their thread stops them: here they would stop the whole server.
 */
export class LineMatcher {
  readonly #options: LineMatcherOptions;
  #worker: Worker | undefined;
  #isLate = false;
  #stop = (): void => {};
  /** Whoever waits for an answer. */
  #onAnswer = (_matches: readonly LineMatch[]): void => {};

  constructor(options: LineMatcherOptions) {
    this.#options = options;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  /** Throws when the pattern is none. */
  async start(): Promise<void> {
    const { pattern, timeoutMs, signal, lineCharsMax } = this.#options;
    checkPattern(pattern);
    const worker = new Worker(PROGRAM, { eval: true, workerData: { pattern, lineCharsMax }, env: {}, stdin: false });
    const timer = setTimeout(() => {
      this.#isLate = true;
      void worker.terminate();
    }, timeoutMs);
    const onAbort = (): void => void worker.terminate();
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    worker.on('message', (matches: readonly LineMatch[]) => this.#onAnswer(matches));
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#onAnswer([]);
    });
    this.#worker = worker;
    this.#stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  }

  /** The lines that fit; none when it was stopped. */
  async match(text: Buffer): Promise<readonly LineMatch[]> {
    return await new Promise((resolve) => {
      this.#onAnswer = resolve;
      if (this.#worker === undefined) resolve([]);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      else this.#worker.postMessage(text);
    });
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#worker?.terminate();
  }
}

/** Only says what is wrong with it: it is used over there. */
function checkPattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolFailure(`the pattern cannot be used: ${reason}`, { cause: error });
  }
}

/** As text, because a thread is started from a file, and ours has another name when it is compiled. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const expression = new RegExp(workerData.pattern, 'u');
const max = workerData.lineCharsMax;
parentPort.on('message', (bytes) => {
  const found = [];
  const lines = new TextDecoder().decode(bytes).split('\\n');
  if (lines.at(-1) === '') lines.pop();
  lines.forEach((raw, at) => {
    const line = raw.endsWith('\\r') ? raw.slice(0, -1) : raw;
    if (!expression.test(line)) return;
    const shown = line.length > max ? line.slice(0, max) + ' [... omitted end of long line]' : line;
    found.push({ number: at + 1, line: shown });
  });
  parentPort.postMessage(found);
});
`;
