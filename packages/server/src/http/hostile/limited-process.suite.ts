import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { buildProgram } from '../../../../../test/support/build-program.ts';
import { repositoryRoot } from '../../../../../test/support/root.ts';

/** A whole server in a process of its own, whose limits a test can lower while it runs. */
export interface LimitedProcess {
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly client: Anthropic;
  readonly directory: string;
  /** Lines that the process has printed after its address. */
  readonly reports: readonly string[];
  isAlive(): boolean;
  descriptors(): number;
  /** Sets a soft limit by the name that `prlimit` uses: `nofile`, `fsize`. */
  limit(resource: string, max: number): void;
  close(): Promise<void>;
}

/** Starts the server with this descriptor limit. */
export async function startLimitedProcess(descriptorsMax: number): Promise<LimitedProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetloom-limited-'));
  // Within the repository, so that modules that are not bundled are found.
  const code = join(repositoryRoot, '.cache', `limited-${process.pid}-${directory.slice(-6)}`);
  await buildProgram(code, { host: fileURLToPath(new URL('./limited-host.suite.ts', import.meta.url)) });
  const child = spawn(process.execPath, [join(code, 'host.mjs'), directory], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const reports: string[] = [];
  const limit = (resource: string, max: number) =>
    // The soft limit, which can be raised again.
    void execFileSync('prlimit', ['--pid', String(child.pid), `--${resource}=${max}:`]);
  const { url, port, key } = await begin(child, reports, () => {
    limit('nofile', descriptorsMax);
    child.stdin.end('go\n');
  });
  return {
    url,
    port,
    key,
    client: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 5 }),
    directory,
    reports,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    limit,
    close: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(timer);
      for (const folder of [code, directory]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The address of the server; later lines are its reports. */
function begin(
  child: ChildProcess,
  reports: string[],
  onLoaded: () => void,
): Promise<{ url: string; port: number; key: string }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => reject(new Error(`the server ended with ${code}`)));
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const said = JSON.parse(line) as { url?: string; port: number; key: string; isLoaded?: boolean };
      if (said.isLoaded === true) onLoaded();
      else if (said.url === undefined) reports.push(line);
      else resolve({ ...said, url: said.url });
    });
  });
}
