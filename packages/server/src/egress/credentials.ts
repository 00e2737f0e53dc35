import { createHash } from 'node:crypto';

/** A secret that requests to some hosts may have. Programs have its placeholder instead. */
export interface EgressCredential {
  readonly id: string;
  readonly placeholder: string;
  readonly isInHeaders: boolean;
  readonly isInBodies: boolean;
  /** Undefined if it was erased. Throws if it cannot be read: then the request must not be sent without it. */
  readSecret(): Promise<string | undefined>;
}

/** The credentials of one session, which are read again for each request. */
export interface EgressCredentials {
  /** Those that may be sent to a host now. */
  findFor(host: string): Promise<readonly EgressCredential[]>;
}

/**
 * What programs of a session have in the place of a secret. The same on every node, after a restart and with another secret. It need
 * not be secret: the proxy of a session replaces those of its own session only.
 */
export function toPlaceholder(sessionId: string, credentialId: string): string {
  const digest = createHash('sha512').update(`fleetloom-placeholder ${sessionId} ${credentialId}`).digest();
  const chars = [...digest.subarray(0, PLACEHOLDER_CHARS)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return `flph_${chars.join('')}`;
}

const PLACEHOLDER_CHARS = 40;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
