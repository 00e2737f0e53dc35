import { createHmac } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Credential, Credentials } from './credential.ts';
import { isSameDigest } from './secret.ts';
import type { TokenIssuer } from './token-issuers.ts';

/** Tokens with which a worker reaches one session. */
export interface SessionTokens extends Credentials {
  /** A token for one session, which a worker gets with its work. */
  issue(session: TokenFields & { readonly ttlMs: number }): string;
}

interface TokenFields extends TokenIssuer {
  readonly sessionId: string;
}

export interface SessionTokensOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  /** Whether what a token was made with is still there. */
  readonly isIssuerCurrent: (issuer: TokenIssuer) => Promise<boolean>;
}

/**
 * Tokens that carry what they are for and what they were made with, signed. Nothing is kept, so they hold across restarts
 * and on every node that has the same signing key; they end with their time, their key and their environment.
 */
export function createSessionTokens({ signingKey, clock, isIssuerCurrent }: SessionTokensOptions): SessionTokens {
  return {
    issue: ({ workspaceId, environmentId, sessionId, keyId, loginId, ttlMs }) => {
      const fields: Fields = [workspaceId, environmentId, sessionId, clock.now() + ttlMs, keyId, loginId];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${PREFIX}${payload}.${sign(payload).toString('base64url')}`;
    },
    find: async (token) => {
      const [payload, signature, ...more] = token.startsWith(PREFIX) ? token.slice(PREFIX.length).split('.') : [];
      if (payload === undefined || signature === undefined || more.length > 0) return undefined;
      if (!isSameDigest(Buffer.from(signature, 'base64url'), sign(payload))) return undefined;
      return await toCredential(payload);
    },
  };

  function sign(payload: string): Buffer {
    return createHmac('sha256', signingKey).update(payload).digest();
  }

  async function toCredential(payload: string): Promise<Credential | undefined> {
    // Signed by us, so the fields are what `issue` put there.
    const fields = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Fields;
    const [workspaceId, environmentId, sessionId, expiresAt, keyId, loginId] = fields;
    if (expiresAt <= clock.now() || keyId === undefined) return undefined;
    if (!(await isIssuerCurrent({ keyId, loginId: loginId ?? undefined, workspaceId, environmentId })))
      return undefined;
    return { kind: 'session', id: `token of ${sessionId}`, workspaceId, environmentId, sessionId };
  }
}

/** Workspace, environment, session, when it expires, key, login. Tokens of older versions have no key, and do not count any more. */
type Fields = [string, string, string, number, string | undefined, (string | null | undefined)?];

const PREFIX = 'fleetloom_session_';
