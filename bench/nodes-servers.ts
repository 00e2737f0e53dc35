import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** Servers as processes of their own: one with its own file, or some that share a database. */
export interface Servers {
  readonly urls: readonly string[];
  readonly kill: (index: number) => void;
  /** Memory and CPU time of the first server. */
  readonly look: () => Promise<{ readonly bytes: number; readonly cpuMs: number }>;
  close(): Promise<void>;
}

export interface Database {
  readonly url: string;
  stop(): Promise<void>;
}

/** The bench is one bundled file, so the script that starts a database is imported from its own path. */
export async function startDatabase(): Promise<Database> {
  const file = pathToFileURL(join(process.cwd(), 'scripts', 'support', 'postgres.mjs')).href;
  const { startPostgres } = (await import(/* @vite-ignore */ file)) as {
    startPostgres: () => Promise<Database>;
  };
  return startPostgres();
}

export async function startServers(count: number, database?: string): Promise<Servers> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-bench-nodes-'));
  const all = await Promise.all(
    Array.from({ length: count }, (_, index) => start(join(directory, String(index)), database)),
  );
  const [first] = all;
  return {
    urls: all.map(({ url }) => url),
    kill: (index) => void all[index]!.child.kill('SIGKILL'),
    look: async () => {
      const [status, stat] = await Promise.all(
        ['status', 'stat'].map((name) => readFile(`/proc/${first!.child.pid}/${name}`, 'utf8')),
      );
      const fields = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
      return {
        bytes: Number(/VmRSS:\s+(\d+)/.exec(status!)?.[1]) * 1_024,
        // User and system time, in hundredths of a second.
        cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
      };
    },
    close: async () => {
      await Promise.all(all.map(({ child }) => end(child)));
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function start(data: string, database: string | undefined): Promise<{ url: string; child: ChildProcess }> {
  const main = join(process.cwd(), 'packages', 'cli', 'dist', 'main.js');
  const args = [main, 'serve', '--json', '--open', '--port', '0', '--data', data];
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [...args, ...(database === undefined ? [] : ['--database', database])], {
    env: { PATH, HOME, FLEETLOOM_SECRET: 'a secret that only the bench has....' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return { url: (JSON.parse(line) as { url: string }).url, child };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
