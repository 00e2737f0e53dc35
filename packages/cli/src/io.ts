/**
 * Everything a command touches outside itself. Commands get it as an argument, so that a test can hand in its own
 * terminal, clock and signals.
 */
export interface Io {
  stdin: Input;
  stdout: Output;
  stderr: Output;
  env: Readonly<Record<string, string | undefined>>;
  platform: string;
  timers: Timers;
  /** Calls back on the signal until the returned function is called. */
  onSignal(signal: NodeJS.Signals, handler: () => void): () => void;
  /** Calls back once when the process ends, for whatever reason it still can; in a crash before the crash is printed. */
  onExit(handler: () => void): () => void;
  /** Calls back on every error that no code handles, instead of ending the process, until the returned function is called. */
  onUncaught(handler: (error: unknown) => void): () => void;
  /** Ends the process at once. */
  exitNow(code: number): void;
  /**
   * Hands over what is typed, key by key and unseen, until the returned function is called. Undefined where nobody can
   * type. Ctrl-C comes as a key too, not as a signal.
   */
  openKeyboard(onKeys: (keys: string) => void): (() => void) | undefined;
  /** Stops the process as the shell's job control does (Ctrl-Z); returns when it is continued. */
  suspend(): void;
}

export interface Input extends AsyncIterable<Uint8Array> {
  isTTY?: boolean | undefined;
  /** The input is a regular file given with `<`: what arrives now did not happen now. */
  isFile?: boolean | undefined;
}

export interface Output {
  write(text: string): boolean;
  once(event: 'drain' | 'error' | 'close', handler: (error?: Error) => void): unknown;
  off(event: 'drain' | 'error' | 'close', handler: (error?: Error) => void): unknown;
  on(event: 'resize', handler: () => void): unknown;
  off(event: 'resize', handler: () => void): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  rows?: number | undefined;
  writableNeedDrain?: boolean | undefined;
}

export interface Timers {
  /** Milliseconds since 1970 that never go back. */
  now(): number;
  /** Calls back once after `delayMs`, unless the returned function is called before. */
  after(delayMs: number, handler: () => void): () => void;
}
