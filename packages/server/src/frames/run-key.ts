/** Under which key the session of a run is found. */
export function runKey(runId: string): string {
  return `run ${runId}`;
}
