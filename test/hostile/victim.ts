import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { cleanEnv, MAIN } from '../../packages/cli/test-support/processes.ts';

export interface VictimOptions {
  /** More arguments of `fleetloom serve`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of Node, such as a small heap. */
  readonly nodeArgs?: readonly string[];
  /** How many files it may have open, from when it has started: loading its modules takes more. */
  readonly descriptorsMax?: number;
  /** The data directory of an earlier victim, with its keys; by default a new one. */
  readonly dataDirectory?: string;
  readonly keys?: Victim['keys'];
  /** Directories of cgroups in which the process starts. */
  readonly groups?: readonly string[];
}

/** A real server process that is attacked, with a key of the attacker and one of another tenant. */
export interface Victim {
  readonly url: string;
  readonly port: number;
  readonly dataDirectory: string;
  readonly keys: { readonly attacker: string; readonly canary: string };
  readonly attacker: Anthropic;
  readonly canary: Anthropic;
  /** The exit code or signal; undefined while the process runs. */
  exit(): number | NodeJS.Signals | null | undefined;
  stderr(): string;
  descriptors(): number;
  residentBytes(): number;
  /** The ids of the process and of all processes that it has started. */
  processes(): readonly number[];
  stop(): Promise<number | NodeJS.Signals | null>;
  /** Kills the process with SIGKILL. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

export async function startVictim(options: VictimOptions = {}): Promise<Victim> {
  const dataDirectory = options.dataDirectory ?? mkdtempSync(join(tmpdir(), 'fleetloom-hostile-'));
  const keys = options.keys ?? {
    attacker: createKey(dataDirectory, 'attacker'),
    canary: createKey(dataDirectory, 'canary'),
  };
  const serve = [process.execPath, ...(options.nodeArgs ?? []), MAIN, 'serve', '--json', '--port', '0'];
  const joining = (options.groups ?? []).map((group) => `echo $$ > ${group}/cgroup.procs && `).join('');
  const command = [
    '/bin/sh',
    '-c',
    `${joining}exec "$@"`,
    'sh',
    ...serve,
    '--data',
    dataDirectory,
    ...(options.args ?? []),
  ];
  const child = spawn(command[0]!, command.slice(1), {
    env: cleanEnv({ ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killIt = () => child.kill('SIGKILL');
  process.once('exit', killIt);
  let exit: number | NodeJS.Signals | null | undefined;
  child.once('exit', (code, signal) => {
    process.off('exit', killIt);
    exit = code ?? signal;
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-1_000_000)));
  const port = await readPort(child, () => stderr);
  if (options.descriptorsMax !== undefined) await limitDescriptors(child.pid!, options.descriptorsMax);
  const url = `http://127.0.0.1:${port}`;
  // Connections that this process keeps would count as descriptors that an attack has left open.
  // As many retries as the SDK makes: among 2,000 idle connections a new one may be closed before its request is read.
  const connect = (apiKey: string) =>
    new Anthropic({ baseURL: url, apiKey, timeout: 60_000, defaultHeaders: { connection: 'close' } });

  async function stop(): Promise<number | NodeJS.Signals | null> {
    if (exit !== undefined) return exit;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    // One that hangs must not keep the tests from ending; its exit then shows it.
    const timer = setTimeout(killIt, STOP_MS);
    await ended;
    clearTimeout(timer);
    return exit!;
  }

  return {
    url,
    port,
    dataDirectory,
    keys,
    attacker: connect(keys.attacker),
    canary: connect(keys.canary),
    exit: () => exit,
    stderr: () => stderr,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    residentBytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) * 1_024,
    processes: () => findDescendants(child.pid!),
    stop,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      await stop();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
}

const STOP_MS = 60_000;

function createKey(dataDirectory: string, workspace: string): string {
  const args = [MAIN, 'keys', 'create', workspace, '--data', dataDirectory, '--workspace', workspace];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env: cleanEnv(), encoding: 'utf8' });
  const key = stdout.trim();
  if (key === '') throw new Error(`no key was made: ${stderr}`);
  return key;
}

async function limitDescriptors(pid: number, max: number): Promise<void> {
  const { status, error } = spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${max}:${max}`]);
  if (status !== 0) throw new Error(`prlimit (Debian: util-linux) failed: ${error?.message ?? `status ${status}`}`);
  // The server looks every 5 s how many it may have.
  await new Promise((resolve) => setTimeout(resolve, 6_000));
}

async function readPort(child: ChildProcess, stderr: () => string): Promise<number> {
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit')])) as unknown[];
  if (typeof line !== 'string') throw new Error(`the server ended at its start: ${stderr()}`);
  return (JSON.parse(line) as { port: number }).port;
}

function findDescendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // It has ended.
    }
  }
  const found = [pid];
  for (const parent of found) for (const [child, of] of parents) if (of === parent) found.push(child);
  return found;
}
