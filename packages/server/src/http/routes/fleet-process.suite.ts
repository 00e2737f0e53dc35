import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildProgram } from '../../../../../test/support/build-program.ts';
import { repositoryRoot } from '../../../../../test/support/root.ts';
import { connectTo } from './fleet.suite.ts';

// Servers in separate processes on one directory, for tests that kill and restart them.

export interface FleetProcesses {
  /** Creates a data directory of this name. */
  directory(name: string): string;
  /** Starts a server, by default on any free port. */
  start(directory: string, port?: number): Promise<FleetProcess>;
  close(): void;
}

export type FleetProcess = ReturnType<typeof connectTo> & {
  readonly port: number;
  /** Sends SIGKILL, as the kernel does when memory is exhausted. */
  kill(): Promise<void>;
};

export async function openFleetProcesses(): Promise<FleetProcesses> {
  const data = mkdtempSync(join(tmpdir(), 'fleetloom-fleet-'));
  // Within the repository, so that modules that are not bundled are found.
  const code = join(repositoryRoot, '.cache', `fleet-process-${process.pid}-${data.slice(-6)}`);
  const children = new Set<ChildProcess>();
  await buildProgram(code, { host: fileURLToPath(new URL('./fleet-host.suite.ts', import.meta.url)) });

  return {
    directory: (name) => join(data, name),
    start: async (directory, wanted = 0) => {
      const command = [join(code, 'host.mjs'), directory, String(wanted)];
      const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
      children.add(child);
      const port = await new Promise<number>((resolve, reject) => {
        child.on('error', reject);
        child.on('close', (exitCode) => reject(new Error(`the server ended with ${exitCode}`)));
        child.stdout.setEncoding('utf8').on('data', (text: string) => resolve(Number(text)));
      });
      const kill = () =>
        new Promise<void>((resolve) => {
          child.on('close', () => resolve());
          child.kill('SIGKILL');
        });
      return { ...connectTo({ port }), port, kill };
    },
    close: () => {
      for (const child of children) child.kill('SIGKILL');
      for (const folder of [code, data]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
