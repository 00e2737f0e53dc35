import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Credential, Credentials } from './credential.ts';
import { isSameDigest } from './secret.ts';

export interface SessionTokens extends Credentials {
  /** A token for one session, which a worker gets with its work. */
  issue(session: TokenFields & { readonly ttlMs: number }): string;
}

interface TokenFields {
  readonly workspaceId: string;
  readonly environmentId: string;
  readonly sessionId: string;
}

/**
 * Tokens that carry what they are for, signed. Nothing is kept, so they hold across restarts and on every node that has
 * the same signing key; they end with their time.
 */
export function createSessionTokens({ signingKey, clock }: { signingKey: Uint8Array; clock: Clock }): SessionTokens {
  return {
    issue: ({ workspaceId, environmentId, sessionId, ttlMs }) => {
      const fields = [workspaceId, environmentId, sessionId, clock.now() + ttlMs];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${PREFIX}${payload}.${sign(payload).toString('base64url')}`;
    },
    find: async (token) => {
      const [payload, signature, ...more] = token.startsWith(PREFIX) ? token.slice(PREFIX.length).split('.') : [];
      if (payload === undefined || signature === undefined || more.length > 0) return undefined;
      if (!isSameDigest(Buffer.from(signature, 'base64url'), sign(payload))) return undefined;
      return toCredential(payload);
    },
  };

  function sign(payload: string): Buffer {
    return createHmac('sha256', signingKey).update(payload).digest();
  }

  function toCredential(payload: string): Credential | undefined {
    // Signed by us, so the fields are what `issue` put there.
    const fields = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string, string, number];
    const [workspaceId, environmentId, sessionId, expiresAt] = fields;
    if (expiresAt <= clock.now()) return undefined;
    return { kind: 'session', id: `token of ${sessionId}`, workspaceId, environmentId, sessionId };
  }
}

const PREFIX = 'fleetloom_session_';
