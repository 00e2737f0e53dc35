/** Every number that bounds the SSE codec. Each has a test at its edge. */
export const limits = {
  /** Bytes of one event's lines, endings not counted. A longer event becomes an `oversize` item; reading goes on after it. */
  eventBytesMax: 64 * 1024 * 1024,
  /** Longest wait that timers take: beyond 2^31 - 1 they fire at once, so a large `retry` would make a reader reconnect hot. */
  retryMsMax: 2_147_483_647,
} as const;
