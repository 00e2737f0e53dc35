/** Every number that bounds watching a fleet. Each has a test at its edge. */
export const limits = {
  /** Sessions of one stream whose last cursor is kept; the session silent for longest is dropped first. */
  sessionsMax: 2_000,
  /** The longest random wait before the first try again; it doubles with each that fails, up to the second number. */
  backOffMsMin: 500,
  backOffMsMax: 30_000,
  /** The longest wait that a server can ask for. */
  hintMsMax: 300_000,
  /** Without any sign of life for this long a connection is dead. Servers send one every 10 s. */
  silenceMsMax: 35_000,
} as const;
