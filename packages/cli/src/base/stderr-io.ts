import type { Io } from './io.ts';

/** The same process with standard error as its output: for drawing while standard output carries data. */
export function toStderrIo(io: Io): Io {
  return {
    stdin: io.stdin,
    stdout: io.stderr,
    stderr: io.stderr,
    env: io.env,
    platform: io.platform,
    cwd: io.cwd,
    timers: io.timers,
    onSignal: (signal, handler) => io.onSignal(signal, handler),
    onExit: (handler) => io.onExit(handler),
    onUncaught: (handler) => io.onUncaught(handler),
    exitNow: (code) => io.exitNow(code),
    openKeyboard: (onKeys) => io.openKeyboard(onKeys),
    suspend: () => io.suspend(),
  };
}
