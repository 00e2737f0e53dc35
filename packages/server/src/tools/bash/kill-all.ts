import { readdir, readFile } from 'node:fs/promises';

/**
 * Kills a process group and, where the system lets us look, everything that carries the mark of its shell in its
 * environment: what started a session of its own is in no group of ours any more.
 */
export async function killAll(pid: number | undefined, marker: string): Promise<void> {
  if (pid !== undefined) kill(-pid);
  // Whatever is killed may just have started another one, so it is over when nobody is found.
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const pids = await findMarked(marker);
    if (pids.length === 0) return;
    for (const found of pids) kill(found);
  }
}

const ROUNDS_MAX = 20;

async function findMarked(marker: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^[0-9]+$/.test(name)).map(Number);
  const checks = await Promise.all(pids.map(async (pid) => ((await isMarked(pid, marker)) ? [pid] : [])));
  return checks.flat();
}

async function isMarked(pid: number, marker: string): Promise<boolean> {
  if (pid === process.pid) return false;
  try {
    // What is dead and only waits to be counted has an empty environment.
    return (await readFile(`/proc/${pid}/environ`)).includes(marker);
  } catch {
    // It ended, or belongs to somebody else.
    return false;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone already, which is what we want.
  }
}
