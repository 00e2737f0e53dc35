/**
 * The process around a command: terminal, environment, clock and signals. Passed as an argument so that tests can
 * replace it.
 */
export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  platform: string;
  /** The directory that the command was started in. */
  cwd: string;
  timers: Timers;
  /** Calls `handler` on the signal until the returned function is called. */
  onSignal(signal: NodeJS.Signals, handler: () => void): () => void;
  /** Calls `handler` once when the process exits; in a crash, before the stack is printed. */
  onExit(handler: () => void): () => void;
  /** Calls `handler` on every unhandled error instead of exiting, until the returned function is called. */
  onUncaught(handler: (error: unknown) => void): () => void;
  /** Exits immediately. */
  exitNow(code: number): void;
  /**
   * Reads the keyboard in raw mode until the returned function is called. Undefined if standard input is not a
   * terminal. Ctrl-C arrives as a key, not as a signal.
   */
  openKeyboard(onKeys: (keys: string) => void): (() => void) | undefined;
  /** Shows text in a pager. False if the pager cannot be started; undefined if the process has no pager. */
  openPager?: ((command: string, text: string) => Promise<boolean>) | undefined;
  /** Suspends the process like Ctrl-Z in a shell; returns when the process is continued. */
  suspend(): void;
}

/** Standard input. */
export interface Input extends AsyncIterable<Uint8Array> {
  isTTY?: boolean | undefined;
  /** Standard input is a regular file (`<`): bytes do not arrive at the time of the events. */
  isFile?: boolean | undefined;
}

/** Standard output or standard error. */
export interface Output {
  write(text: string | Uint8Array): boolean;
  once(event: 'drain' | 'error' | 'close', handler: (error?: Error) => void): unknown;
  off(event: 'drain' | 'error' | 'close', handler: (error?: Error) => void): unknown;
  on(event: 'resize', handler: () => void): unknown;
  off(event: 'resize', handler: () => void): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
  writableNeedDrain?: boolean | undefined;
}

/** The clock and timers of the process. */
export interface Timers {
  /** Milliseconds since 1970, monotonic. */
  now(): number;
  /** Calls `handler` once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, handler: () => void): () => void;
}
