import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** When a process began, in the notation of the system. Null: there is no such process. */
export function startOfProcess(pid: number): string | null {
  try {
    // The name may contain anything, brackets too; behind it the twentieth field is the start in ticks since boot.
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
