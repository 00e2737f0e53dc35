/** Ends a process and everything that it has started, unless that has left its group. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  // 0 would be our own process group, and 1 every process.
  if (pid === undefined || pid <= 1) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    // There is none any more.
    return false;
  }
}
