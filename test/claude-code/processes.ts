import { readdirSync, readFileSync } from 'node:fs';

/** The processes that were started with this home, whatever became of their parents. */
export function findProcesses(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isOf(pid, home));
}

function isOf(pid: number, home: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`) && !isZombie(pid);
  } catch {
    // It is gone meanwhile, or somebody else's.
    return false;
  }
}

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
