/** Every number that bounds watching a fleet. Each has a test at its edge. */
export const limits = {
  /** Sessions of one stream whose last cursor is kept; the session silent for longest is dropped first. */
  sessionsMax: 2_000,
  /** The longest random wait before the first retry; it doubles with each failure, up to the second number. */
  backOffMsMin: 500,
  backOffMsMax: 30_000,
  /** The longest wait that a server can request. */
  hintMsMax: 300_000,
  /** How long a connection may receive no bytes before it counts as dead. Servers send a ping every 10 s. */
  silenceMsMax: 35_000,
} as const;
