import type { Io } from './io.ts';

/** The same process, with what is drawn going to where people look while data goes elsewhere. */
export function toStderrIo(io: Io): Io {
  return {
    stdin: io.stdin,
    stdout: io.stderr,
    stderr: io.stderr,
    env: io.env,
    platform: io.platform,
    timers: io.timers,
    onSignal: (signal, handler) => io.onSignal(signal, handler),
    onExit: (handler) => io.onExit(handler),
    onUncaught: (handler) => io.onUncaught(handler),
    exitNow: (code) => io.exitNow(code),
    openKeyboard: (onKeys) => io.openKeyboard(onKeys),
    suspend: () => io.suspend(),
  };
}
