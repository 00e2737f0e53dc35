import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The start time of a process, in the format of the system. Null: the process does not exist. */
export function startOfProcess(pid: number): string | null {
  try {
    // The name may contain any character, also parentheses; the twentieth field behind it is the start time in ticks since boot.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return process.platform === 'linux' ? null : askSystem(pid);
  }
}

function askSystem(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}
