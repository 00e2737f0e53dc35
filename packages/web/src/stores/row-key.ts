/** The key of a thread among all sessions: threads of two sessions may have the same key. */
export function toRowKey(sessionId: string, threadKey: string): string {
  return `${sessionId}/${threadKey}`;
}
