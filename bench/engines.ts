import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { playAcp, playBareEvents, playBareLines, playCodex, playOpencode } from './engine-players.ts';
import { readEngine } from './engine-readers.ts';
import { type Bench, comparePair, type Measured } from './harness.ts';

/** How fast the lines of programs become events, and how much memory their processes need. */
export const engines: Bench = {
  name: 'engines',
  cases: [
    { name: 'codex-throughput', run: () => measure('codex', playBareLines, playCodex) },
    { name: 'opencode-throughput', run: () => measure('opencode', playBareEvents, playOpencode) },
    { name: 'acp-throughput', run: () => measure('acp', playBareLines, playAcp) },
    ...(['codex', 'opencode', 'acp'] as const).flatMap((name) => [
      { name: `${name}-line-to-client`, run: () => measureDelay(name, 0.5, 20) },
      { name: `${name}-line-to-client-p99`, run: () => measureDelay(name, 0.99, 100) },
    ]),
    { name: 'codex-memory', run: () => measureMemory('codex', ['app-server']) },
    {
      name: 'opencode-memory',
      run: () => measureMemory('opencode', ['serve', '--hostname', '127.0.0.1', '--port', '0']),
    },
    { name: 'acp-memory', run: () => measureMemory('opencode', ['acp']) },
  ],
};

/** Recorded bytes, translated, against splitting them and parsing each line. */
async function measure(
  name: 'codex' | 'opencode' | 'acp',
  bare: (process: Uint8Array) => void,
  ours: (process: Uint8Array) => void,
): Promise<Measured> {
  const recorded = readProcesses(name);
  // One pass takes a few milliseconds, which is less than a garbage collection.
  const processes = Array.from({ length: PASSES }, () => recorded).flat();
  const megabytes = processes.reduce((sum, { length }) => sum + length, 0) / 1e6;
  const all = (play: (process: Uint8Array) => void) => () => processes.forEach(play);
  const { floorMs, oursMs, ratio } = await comparePair({ floor: all(bare), ours: all(ours) }, { clock: 'cpu' });
  const share = 1 / ratio;
  const [value, floor] = [megabytes / (oursMs / 1000), megabytes / (floorMs / 1000)];
  return { value, unit: 'MB/s', floor, ratio: share, goal: '>= 0.35 of bare', ok: share >= 0.35 };
}

const PASSES = 10;

/** The output of each recorded process. Events of opencode are in the format of its stream. */
function readProcesses(name: string): Uint8Array[] {
  const folder = join(process.cwd(), 'fixtures', 'engines', name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ndjson'))
    .flatMap((file) => {
      const rows = readFileSync(join(folder, file), 'utf8').trim().split('\n');
      const written: string[] = [''];
      for (const row of rows) {
        const { dir, via, line } = JSON.parse(row) as { dir: string; via?: string; line: string | null };
        if (line === null) written.push('');
        else if (dir === 'out' && via === undefined) written[written.length - 1] += `${line}\n`;
        else if (via === 'sse') written[written.length - 1] += `data: ${line}\n\n`;
      }
      return written.filter((text) => text !== '').map((text) => Buffer.from(text));
    });
}

/** The delay from a line of the program to the event at a reader of the fleet stream, including the synced log. */
async function measureDelay(name: 'codex' | 'opencode' | 'acp', share: number, goalMs: number): Promise<Measured> {
  const delays = (await readEngine(name, { lines: 400, everyMs: 5 })).toSorted((a, b) => a - b);
  const value = delays[Math.floor((delays.length - 1) * share)] ?? Number.NaN;
  return { value, unit: 'ms', floor: null, ratio: null, goal: `<= ${goalMs} ms`, ok: value <= goalMs };
}

/** The memory of an idle process with all its children, if the program was installed for tests. */
async function measureMemory(name: 'codex' | 'opencode', args: readonly string[]): Promise<Measured> {
  const program = findProgram(name);
  if (program === undefined) return { ...REPORTED, value: Number.NaN, goal: 'not installed' };
  const home = mkdtempSync(join(tmpdir(), 'fleetloom-bench-'));
  const env = { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home, OPENCODE_DISABLE_AUTOUPDATE: '1' };
  const child = spawn(program, args, { cwd: home, env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  try {
    const clientInfo = { name: 'fleetloom', title: 'Fleetloom', version: '0.0.0' };
    const params = { clientInfo, protocolVersion: 1, clientCapabilities: {} };
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    await sleep(SETTLE_MS);
    return { ...REPORTED, value: residentOf(child.pid ?? 0) / 1e6 };
  } finally {
    const closed = new Promise((resolve) => child.once('close', resolve));
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await closed;
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const REPORTED = { unit: 'MB', floor: null, ratio: null, goal: 'reported', ok: true };

/** How long to wait until a program is ready. */
const SETTLE_MS = 8_000;

function findProgram(name: 'codex' | 'opencode'): string | undefined {
  const cache = join(process.cwd(), '.cache', name);
  const versions = existsSync(cache) ? readdirSync(cache).filter((entry) => /^\d/.test(entry)) : [];
  const file = name === 'codex' ? join('vendor', 'x86_64-unknown-linux-musl', 'bin', 'codex') : join('bin', 'opencode');
  return versions.map((version) => join(cache, version, file)).find((path) => existsSync(path));
}

/** Bytes of a process and its children, as Linux counts them; 0 elsewhere. */
function residentOf(pid: number): number {
  const folder = `/proc/${pid}`;
  if (!existsSync(folder)) return 0;
  const kilobytes = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1] ?? 0);
  const children = readFileSync(`${folder}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '');
  return kilobytes * 1024 + children.reduce((sum, child) => sum + residentOf(Number(child)), 0);
}
