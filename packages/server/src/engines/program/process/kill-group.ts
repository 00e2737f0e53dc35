/** Ends a process and all processes of its group. */
export function killGroup(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  // A group id of 0 would be the server's own process group, and 1 every process.
  if (pid === undefined || pid <= 1) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    // The group does not exist any more.
    return false;
  }
}
