import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Credentials } from '../auth/credential.ts';
import type { KeyStore } from '../auth/key-store.ts';
import { isSameDigest } from '../auth/secret.ts';
import { WEB_SESSION_PREFIX } from '../auth/web-cookie.ts';
import type { Visitor } from './login-codes.ts';

/**
 * What the cookie of a browser holds: for which key it was let in and until when, signed. Nothing is kept, so it holds
 * across restarts; it ends with its time, and with the key.
 */
export interface WebSessions extends Credentials {
  issue(visitor: Visitor): string;
}

export interface WebSessionsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, 'findById'>;
}

export function createWebSessions({ signingKey, clock, keys }: WebSessionsOptions): WebSessions {
  return {
    issue: ({ keyId, workspaceId }) => {
      const fields = [workspaceId, keyId, clock.now() + limits.webSessionMs];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${WEB_SESSION_PREFIX}${payload}.${sign(payload).toString('base64url')}`;
    },
    find: async (token) => {
      if (!token.startsWith(WEB_SESSION_PREFIX)) return undefined;
      const [payload, signature, ...more] = token.slice(WEB_SESSION_PREFIX.length).split('.');
      if (payload === undefined || signature === undefined || more.length > 0) return undefined;
      if (!isSameDigest(Buffer.from(signature, 'base64url'), sign(payload))) return undefined;
      // Signed by us, so the fields are what `issue` put there.
      const fields = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string, number];
      const [workspaceId, keyId, expiresAt] = fields;
      if (expiresAt <= clock.now()) return undefined;
      const credential = await keys.findById(keyId);
      return credential?.workspaceId === workspaceId ? credential : undefined;
    },
  };

  /** Tokens of sessions are signed with the same key: the purpose keeps one from passing for the other. */
  function sign(payload: string): Buffer {
    return createHmac('sha256', signingKey).update(`${WEB_SESSION_PREFIX}${payload}`).digest();
  }
}
