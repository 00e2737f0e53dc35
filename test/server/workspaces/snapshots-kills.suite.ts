import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A server in a process of its own, which can be killed. */
export interface Host {
  readonly url: string;
  readonly kill: () => Promise<void>;
}

/** Starts the server that was built into a folder on a data directory. */
export async function startHost(codeFolder: string, directory: string, allowed: string): Promise<Host> {
  const child: ChildProcess = spawn(process.execPath, [join(codeFolder, 'host.mjs'), directory, allowed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const ended = once(child, 'exit');
  return {
    url: line.toString().trim(),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
