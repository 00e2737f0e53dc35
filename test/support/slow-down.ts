import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Lets a process run only for this share of the time, as a container with such a limit does. It depends on no other load of the
 * machine: what the process can do is that share of what it could do.
 */
export function slowDown(pid: number, share: number): { end(): Promise<void> } {
  const child = spawn(process.execPath, ['-e', PROGRAM, String(pid), String(share)], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  return {
    end: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** In a process of its own, because a busy one has no exact timers. It ends with its standard input. */
const PROGRAM = `
  const [pid, share] = process.argv.slice(1).map(Number);
  const RUN_MS = 10;
  let timer;
  const signal = (name) => {
    try {
      process.kill(pid, name);
    } catch {
      process.exit();
    }
  };
  const run = () => {
    signal('SIGCONT');
    timer = setTimeout(stop, RUN_MS);
  };
  const stop = () => {
    signal('SIGSTOP');
    timer = setTimeout(run, RUN_MS / share - RUN_MS);
  };
  process.stdin.on('end', () => {
    clearTimeout(timer);
    signal('SIGCONT');
    process.exit();
  });
  process.stdin.resume();
  run();
`;
