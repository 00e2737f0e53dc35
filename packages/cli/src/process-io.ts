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
      const once = () => {
        undo();
        handler();
      };
      const undo = () => {
        process.off('exit', once);
        process.off('uncaughtExceptionMonitor', once);
      };
      process.on('exit', once);
      // Before the stack is printed: on a screen that is about to go it would go too.
      process.on('uncaughtExceptionMonitor', once);
      return undo;
    },
    onUncaught: (handler) => {
      process.on('uncaughtException', handler);
      return () => process.off('uncaughtException', handler);
    },
    exitNow: (code) => process.exit(code),
    openKeyboard,
    suspend: () => process.kill(process.pid, 'SIGSTOP'),
  };
}

function openKeyboard(onKeys: (keys: string) => void): (() => void) | undefined {
  const { stdin } = process;
  if (!stdin.isTTY) return undefined;
  const listen = (bytes: Buffer) => onKeys(bytes.toString('utf8'));
  stdin.setRawMode(true);
  stdin.on('data', listen);
  stdin.resume();
  return () => {
    stdin.off('data', listen);
    stdin.setRawMode(false);
    // Otherwise it would keep the process alive.
    stdin.pause();
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
