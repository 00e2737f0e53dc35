import { fstatSync } from 'node:fs';
import type { Io } from './io.ts';

/** The real process as a command sees it. */
export function createProcessIo(): Io {
  return {
    stdin: {
      // Touching process.stdin opens it, so it is only touched by the command that reads it.
      [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>,
      get isTTY() {
        return process.stdin.isTTY;
      },
      get isFile() {
        return isRegularFile(0);
      },
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    platform: process.platform,
    timers: {
      now: () => performance.timeOrigin + performance.now(),
      after: (delayMs, handler) => {
        const timer = setTimeout(handler, delayMs);
        return () => clearTimeout(timer);
      },
    },
    onSignal: (signal, handler) => {
      process.on(signal, handler);
      return () => process.off(signal, handler);
    },
    onExit: (handler) => {
      process.on('exit', handler);
      return () => process.off('exit', handler);
    },
    suspend: () => process.kill(process.pid, 'SIGSTOP'),
  };
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // A closed descriptor is no file; reading it tells the rest.
    return false;
  }
}
