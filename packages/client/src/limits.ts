/** Every number that bounds the client. Each has a test at its edge. */
export const limits = {
  /** Characters of an unexpected response that its error shows. */
  excerptCharsMax: 200,
  /** How long the error waits for these characters. A server may send an error and then leave the body open. */
  excerptWaitMs: 1_000,
} as const;
