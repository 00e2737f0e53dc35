import { createHash } from 'node:crypto';

/** A secret that may be sent to some hosts. Programs have its placeholder instead. */
export interface EgressCredential {
  readonly id: string;
  readonly placeholder: string;
  readonly isInHeaders: boolean;
  readonly isInBodies: boolean;
  /** Undefined if the secret was erased. Throws if the secret cannot be read: then the request must not be sent. */
  readSecret(): Promise<string | undefined>;
}

/** The credentials of one session, which are read again for each request. */
export interface EgressCredentials {
  /** The credentials that may be sent to a host now. */
  findFor(host: string): Promise<readonly EgressCredential[]>;
}

/**
 * The placeholder that programs of a session have instead of a secret. It is the same on every node, after a restart and after a change of
 * the secret. It need not be secret: the proxy of a session replaces only placeholders of that session.
 */
export function toPlaceholder(sessionId: string, credentialId: string): string {
  const digest = createHash('sha512').update(`fleetloom-placeholder ${sessionId} ${credentialId}`).digest();
  const chars = [...digest.subarray(0, PLACEHOLDER_CHARS)].map((byte) => ALPHABET[byte % ALPHABET.length]);
  return `flph_${chars.join('')}`;
}

const PLACEHOLDER_CHARS = 40;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
