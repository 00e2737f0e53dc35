/** Opens the exported log of a session. */
export async function openLog(sessionId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { body, ok, status } = await fetch(`v1/sessions/${sessionId}/export`, { signal });
  if (!ok || body === null) throw new Error(`The log of ${sessionId} cannot be loaded (HTTP ${status}).`);
  return body;
}
