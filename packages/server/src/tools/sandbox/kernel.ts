import { readFileSync } from 'node:fs';
import { release } from 'node:os';

/**
 * Whether `RLIMIT_NPROC` limits the processes of a sandbox. It does not apply to root, and before Linux 5.14 it counted all
 * processes of the user: on a busy desktop no program in the sandbox could have started another one.
 */
export function limitsProcesses(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return (major > 5 || (major === 5 && minor >= 14)) && !isRootForKernel();
}

/** Whether this process is root of the machine. Root of a container may be another user to the kernel. */
export function isRootForKernel(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    return /^\s*0\s+0\s/.test(readFileSync('/proc/self/uid_map', 'utf8'));
  } catch {
    return true;
  }
}
