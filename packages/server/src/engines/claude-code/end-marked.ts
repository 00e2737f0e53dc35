import { runProgram } from '../../base/run-program.ts';
import { readdir, readFile } from 'node:fs/promises';

/** What every process that a program starts finds in its environment, however far it goes from its parent. */
export const MARK = 'FLEETLOOM_PROGRAM';

/**
 * Ends everything that was started under this mark, and says how many there were. The program runs its tools in groups of
 * their own, and when it dies they are nobody's children: only their environment still says whose they were.
 */
export async function endMarked(mark: string): Promise<number> {
  const entry = `${MARK}=${mark}`;
  let ended = 0;
  // Whoever is started while we look is found the next time.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found = (await (process.platform === 'linux' ? findInProc(entry) : askSystem(entry))).filter(kill);
    if (found.length === 0) break;
    ended += found.length;
  }
  return ended;
}

const ROUNDS_MAX = 10;

async function findInProc(entry: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(async (pid) => ((await isMarked(pid, entry)) ? [Number(pid)] : [])));
  return found.flat();
}

/** One that is gone, or somebody else's, has nothing to show. One that is dead and not yet buried has nothing either. */
async function isMarked(pid: string, entry: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').includes(entry);
}

/** Other systems show the environment behind the command, to who asks for it. */
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
