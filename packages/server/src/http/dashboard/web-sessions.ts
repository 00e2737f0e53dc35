import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { Credentials } from '../auth/credential.ts';
import type { KeyStore } from '../auth/key-store.ts';
import { isSameDigest } from '../auth/secret.ts';
import { WEB_SESSION_PREFIX } from '../auth/web-cookie.ts';
import type { Visitor } from './login-codes.ts';
import type { Logins } from './logins.ts';

/**
 * What the cookie of a browser holds: its login, for which key and until when, signed. It holds across restarts and at every
 * node; it ends with its time, with the key, and when the browser signs out.
 */
export interface WebSessions extends Credentials {
  issue(visitor: Visitor): Promise<string>;
  /** Signs the browser out: the cookie counts nowhere any more. Does nothing if it did not count. */
  end(token: string): Promise<void>;
}

export interface WebSessionsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, 'findById'>;
  readonly logins: Logins;
}

export function createWebSessions({ signingKey, clock, keys, logins }: WebSessionsOptions): WebSessions {
  return {
    issue: async ({ keyId, workspaceId }) => {
      const expiresAt = clock.now() + limits.webSessionMs;
      const fields: Fields = [workspaceId, keyId, expiresAt, await logins.begin(expiresAt)];
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
    // Signed by us, so the fields are what `issue` put there.
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Fields;
  }

  /** Tokens of sessions are signed with the same key: the purpose keeps one from passing for the other. */
  function sign(payload: string): Buffer {
    return createHmac('sha256', signingKey).update(`${WEB_SESSION_PREFIX}${payload}`).digest();
  }
}

/** Workspace, key, when it expires, login. Cookies of older versions have no login, and do not count any more. */
type Fields = [string, string, number, string | undefined];
