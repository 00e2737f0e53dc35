/** Numbers that bound keys and secrets. Each has a test at its edge. */
export const keyLimits = {
  /** API keys of a server, which the operator makes. */
  apiKeysMax: 1_000,
  /** Environment keys of one workspace, which its key holders make. */
  environmentKeysMax: 200,
  /** How long a node may take to store a key for which it has reserved room. */
  keyReservationMs: 60_000,
  /** Length of the secret that encrypts values that nodes share in their database. */
  nodeSecretCharsMin: 32,
  /** How long a key that was added or revoked by another process goes unnoticed. */
  apiKeysCheckMs: 400,
  /** How often credentials with open streams are looked up. With the time before, a revoked one is out within a second. */
  credentialCheckMs: 400,
  /** Directories of one key, its engines, and the characters of one of them. */
  keyValuesMax: 50,
  keyLimitCharsMax: 4_096,
  /** How long the old secret of a rotated key is accepted, unless the rotation says otherwise, and at most. */
  keyOverlapMs: 24 * 60 * 60 * 1_000,
  keyOverlapMsMax: 90 * 24 * 60 * 60 * 1_000,
  /** Old secrets of one key that are accepted at the same time. */
  keyPreviousMax: 5,
  /** How exact the time of the last use is, and how often it is stored. */
  keyUseStepMs: 10_000,
  keyUseWriteMs: 5_000,
  /** How long keys count as they were, while the machine has no descriptors left to look. */
  apiKeysStaleMs: 60_000,
} as const;
