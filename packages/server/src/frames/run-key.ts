/** The key under which the store has the session of a run. */
export function runKey(runId: string): string {
  return `run ${runId}`;
}
