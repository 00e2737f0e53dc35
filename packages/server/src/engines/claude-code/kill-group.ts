/** Ends a process and everything that it has started, unless that has left its group. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  // Zero and one would be ourselves and everybody.
  if (pid === undefined || pid <= 1) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    // There is none any more.
    return false;
  }
}
