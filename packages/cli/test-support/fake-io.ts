import { EventEmitter } from 'node:events';
import { tmpdir } from 'node:os';
import type { Io, Output } from '../src/base/io.ts';
import { FakeTerminal } from './fake-terminal.ts';

/** An output that is a pipe or a file. It stores the written text. */
export class FakeOutput extends EventEmitter implements Output {
  text = '';

  write(text: string | Uint8Array): boolean {
    this.text += Buffer.from(text as Uint8Array).toString();
    return true;
  }
}

/** A clock that moves only when a test advances it. */
export class FakeTimers {
  nowMs = 1_800_000_000_000;
  #waiting: { atMs: number; handler: () => void }[] = [];

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, handler: () => void): () => void {
    const entry = { atMs: this.nowMs + delayMs, handler };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((each) => each !== entry);
    };
  }

  get pending(): number {
    return this.#waiting.length;
  }

  /** Advances the clock. Calls due timers in order, and lets pending promises continue after each. */
  async advance(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    for (let next = this.#next(endMs); next; next = this.#next(endMs)) {
      this.nowMs = Math.max(this.nowMs, next.atMs);
      this.#waiting = this.#waiting.filter((each) => each !== next);
      next.handler();
      await settle();
    }
    this.nowMs = endMs;
    await settle();
  }

  #next(endMs: number): { atMs: number; handler: () => void } | undefined {
    return this.#waiting.filter(({ atMs }) => atMs <= endMs).sort((a, b) => a.atMs - b.atMs)[0];
  }
}

/** Lets ready callbacks and promises run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for a condition that takes real time, such as loading a module or reading a file. */
export async function eventually(isThere: () => boolean): Promise<void> {
  const startedAt = performance.now();
  while (!isThere()) {
    if (performance.now() - startedAt > 25_000) throw new Error('It did not happen within 25 seconds.');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await settle();
}

/** A fake process: pipes by default, or the given terminal. */
export class FakeIo implements Io {
  readonly timers = new FakeTimers();
  readonly stderr = new FakeOutput();
  readonly stdout: FakeOutput | FakeTerminal;
  readonly stdin: FakeInput;
  readonly env: Record<string, string | undefined>;
  platform = 'linux';
  /** The working directory, which is not in a git repository. */
  cwd = tmpdir();
  suspensions = 0;
  readonly #signals = new EventEmitter();
  readonly #exits = new Set<() => void>();

  constructor(options: { terminal?: FakeTerminal; input?: string; env?: Record<string, string> } = {}) {
    this.stdout = options.terminal ?? new FakeOutput();
    this.env = { LANG: 'C.UTF-8', TERM: 'xterm-256color', NO_COLOR: '1', ...options.env };
    this.stdin = new FakeInput();
    if (options.input !== undefined) {
      this.stdin.push(options.input);
      this.stdin.end();
    }
  }

  onSignal(signal: NodeJS.Signals, handler: () => void): () => void {
    this.#signals.on(signal, handler);
    return () => this.#signals.off(signal, handler);
  }

  onExit(handler: () => void): () => void {
    this.#exits.add(handler);
    return () => this.#exits.delete(handler);
  }

  /** Does nothing: unhandled errors are tested with a real process. */
  onUncaught(): () => void {
    return () => {};
  }

  exitNow(code: number): void {
    throw new Error(`a test ended its process with ${code}`);
  }

  /** Whether the input is a terminal; `type` simulates keys. */
  hasKeyboard = false;
  #typists = new Set<(keys: string) => void>();

  openKeyboard(onKeys: (keys: string) => void): (() => void) | undefined {
    if (!this.hasKeyboard) return undefined;
    this.#typists.add(onKeys);
    return () => this.#typists.delete(onKeys);
  }

  type(keys: string): void {
    // A copy of the listeners, because a listener may remove and add itself during the loop.
    for (const onKeys of Array.from(this.#typists)) onKeys(keys);
  }

  get keyboards(): number {
    return this.#typists.size;
  }

  /** The pager of a test, if it sets one. */
  openPager?: (command: string, text: string) => Promise<boolean>;

  suspend(): void {
    this.suspensions += 1;
  }

  send(signal: NodeJS.Signals): void {
    this.#signals.emit(signal);
  }

  /** Ends the process unexpectedly, as in a crash. */
  exit(): void {
    for (const handler of this.#exits) handler();
  }

  get listeners(): number {
    return (
      this.#exits.size + this.#signals.eventNames().reduce((sum, name) => sum + this.#signals.listenerCount(name), 0)
    );
  }
}

/** A standard input that a test fills while it is read. Counts the chunks that were read. */
export class FakeInput implements AsyncIterable<Uint8Array> {
  isTTY = false;
  isFile = false;
  taken = 0;
  #chunks: Uint8Array[] = [];
  #ended = false;
  #wake = () => {};

  push(text: string): void {
    this.pushBytes(Buffer.from(text));
  }

  pushBytes(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.taken += 1;
        yield chunk;
      } else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
