/** Every number that bounds the client. Each has a test at its edge. */
export const limits = {
  /** How much of the body of an unwanted response its error shows. */
  excerptCharsMax: 200,
  /** How long the error waits for that much. A server may say no and then leave the body open. */
  excerptWaitMs: 1_000,
} as const;
