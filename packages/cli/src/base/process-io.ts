import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import type { Io } from './io.ts';

/** The real process as `Io`. */
export function createProcessIo(): Io {
  return {
    stdin: {
      // Accessing process.stdin opens it, so only a command that reads it may access it.
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
    cwd: process.cwd(),
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
      // Runs before the stack is printed, which would disappear with the alternate screen.
      process.on('uncaughtExceptionMonitor', once);
      return undo;
    },
    onUncaught: (handler) => {
      process.on('uncaughtException', handler);
      return () => process.off('uncaughtException', handler);
    },
    exitNow: (code) => process.exit(code),
    openKeyboard,
    openPager,
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
    // An open stdin would keep the process alive.
    stdin.pause();
  };
}

/** Runs the pager through a shell, because PAGER may have arguments. */
async function openPager(command: string, text: string): Promise<boolean> {
  const env = { LESS: 'FRX', LV: '-c', ...process.env };
  return await new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env });
    child.on('error', () => resolve(false));
    // 127: the shell has not found the pager.
    child.on('close', (code) => resolve(code !== 127));
    // The reader may quit before the end.
    child.stdin.on('error', () => {});
    child.stdin.end(text);
  });
}

function isRegularFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile();
  } catch {
    // The descriptor is closed: not a file.
    return false;
  }
}
