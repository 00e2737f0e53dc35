import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The processes that were started for sessions of this data directory, even if their parents have ended. */
export function findProcesses(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isOf(pid, directory));
}

function isOf(pid: number, directory: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const homes = join(directory, 'program-homes');
    const own = [
      `CLAUDE_CONFIG_DIR=${homes}/`,
      `CODEX_HOME=${homes}/`,
      `XDG_DATA_HOME=${join(directory, 'opencode-homes')}/`,
      `HOME=${join(directory, 'acp-homes')}/`,
    ];
    return environment.some((entry) => own.some((start) => entry.startsWith(start))) && !isZombie(pid);
  } catch {
    // The process has ended in the meantime, or belongs to another user.
    return false;
  }
}

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
