import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The processes that were started for sessions of this data directory, whatever became of their parents. */
export function findProcesses(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isOf(pid, directory));
}

function isOf(pid: number, directory: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const own = `CLAUDE_CONFIG_DIR=${join(directory, 'program-homes')}/`;
    return environment.some((entry) => entry.startsWith(own)) && !isZombie(pid);
  } catch {
    // It is gone meanwhile, or somebody else's.
    return false;
  }
}

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
