/** The log of the session as a file, as `fleetloom export` writes it. */
export function exportSession(sessionId: string): void {
  const link = document.createElement('a');
  link.href = `v1/sessions/${sessionId}/export`;
  link.download = `${sessionId}.ndjson`;
  link.click();
}
