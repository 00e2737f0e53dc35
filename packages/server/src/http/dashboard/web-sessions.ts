import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { Credentials } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { isSameDigest } from '../../keys/secret.ts';
import { WEB_SESSION_PREFIX } from '../auth/web-cookie.ts';
import type { Visitor } from './login-codes.ts';
import type { Logins } from './logins.ts';

/**
 * Signed browser cookies with the id of the login, its key and when it expires. A cookie is valid on every node and across
 * restarts, until it expires, its key is revoked or the browser signs out.
 */
export interface WebSessions extends Credentials {
  issue(visitor: Visitor): Promise<string>;
  /** Signs the browser out on every node. Does nothing if the cookie is not valid. */
  end(token: string): Promise<void>;
}

/** What cookies are signed and checked with. */
export interface WebSessionsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, 'findById'>;
  readonly logins: Logins;
}

/** Creates the sessions; a cookie whose key or login is gone is refused. */
export function createWebSessions({ signingKey, clock, keys, logins }: WebSessionsOptions): WebSessions {
  return {
    issue: async ({ keyId, workspaceId }) => {
      const expiresAt = clock.now() + httpLimits.webSessionMs;
      const fields: Fields = [workspaceId, keyId, expiresAt, await logins.begin({ workspaceId, expiresAt })];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${WEB_SESSION_PREFIX}${payload}.${sign(payload).toString('base64url')}`;
    },
    find: async (token) => {
      const [workspaceId, keyId, expiresAt, loginId] = read(token) ?? [];
      if (expiresAt === undefined || expiresAt <= clock.now()) return undefined;
      const credential = await keys.findById(keyId!);
      if (credential?.workspaceId !== workspaceId) return undefined;
      return (await logins.has(loginId)) ? credential : undefined;
    },
    end: async (token) => {
      const [, , , loginId] = read(token) ?? [];
      if (loginId !== undefined) await logins.end(loginId);
    },
  };

  function read(token: string): Fields | undefined {
    if (!token.startsWith(WEB_SESSION_PREFIX)) return undefined;
    const [payload, signature, ...more] = token.slice(WEB_SESSION_PREFIX.length).split('.');
    if (payload === undefined || signature === undefined || more.length > 0) return undefined;
    if (!isSameDigest(Buffer.from(signature, 'base64url'), sign(payload))) return undefined;
    // The signature matched, so these are the fields that `issue` wrote.
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Fields;
  }

  /** Session tokens are signed with the same key; the purpose keeps one from being accepted as the other. */
  function sign(payload: string): Buffer {
    return createHmac('sha256', signingKey).update(`${WEB_SESSION_PREFIX}${payload}`).digest();
  }
}

/** Workspace, key, expiry, login. Cookies of older versions have no login and are refused. */
type Fields = [string, string, number, string | undefined];
