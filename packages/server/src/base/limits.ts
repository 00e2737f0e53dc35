/** Every number that bounds the server. Each has a test at its edge. */
export const limits = {
  /** Longest message of an error. What a caller sent may be part of it, and that has any length. */
  errorMessageCharsMax: 1_000,
  /** Latest time that an id can hold: ten characters of five bits. It is in the year 37658. */
  idTimeMsMax: 2 ** 50 - 1,
} as const;
