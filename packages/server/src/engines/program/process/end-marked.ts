import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { runProgram } from '../../../base/process/run-program.ts';
import { programLimits } from '../limits.ts';

/** A variable in the environment of every process that a program starts, direct or indirect. */
export const MARK = 'FLEETLOOM_PROGRAM';

/**
 * Ends every process with this mark, waits until they are gone, and returns their number. The program runs its tools in process
 * groups of their own, and when it dies they are orphans: only their environment still identifies them.
 */
export async function endMarked(mark: string): Promise<number> {
  const entry = `${MARK}=${mark}`;
  const ended = new Set<number>();
  const until = performance.now() + programLimits.programDeathMs;
  // Each round also finds processes that started during the previous round. A killed process is found until the system has freed its memory.
  for (let pauseMs = 1; ; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    const found = (await (process.platform === 'linux' ? findInProc(entry) : askSystem(entry))).filter(kill);
    for (const pid of found) ended.add(pid);
    if (found.length === 0 || performance.now() > until) return ended.size;
    await setTimeout(pauseMs);
  }
}

const PAUSE_MS_MAX = 100;

async function findInProc(entry: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await isMarked(pid, entry)) ? [Number(pid)] : [])));
  return found.flat();
}

/** Whether the process has the mark. The environment of a process that has ended, is a zombie, or belongs to another user cannot be read. */
async function isMarked(pid: string, entry: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').includes(entry);
}

/** Finds marked processes on systems without `/proc`: `ps` lists the environment after the command. */
async function askSystem(entry: string): Promise<number[]> {
  const bounds = { timeoutMs: PS_MS, outputBytesMax: 64 * 1024 * 1024 };
  const { stdout } = await runProgram('ps', ['axeww', '-o', 'pid=,command='], bounds).catch(() => ({ stdout: '' }));
  const lines = stdout.split('\n').filter((line) => line.includes(entry));
  return lines.map((line) => Number.parseInt(line, 10)).filter((pid) => pid > 1);
}

const PS_MS = 10_000;

function kill(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
