/** The whole log of a session, as an export has it. */
export async function openLog(sessionId: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const { body, ok, status } = await fetch(`v1/sessions/${sessionId}/export`, { signal });
  if (!ok || body === null) throw new Error(`the log cannot be read (${status})`);
  return body;
}
