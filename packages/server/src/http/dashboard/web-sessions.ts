import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { ApiCredential, Credential, Credentials } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { isSameDigest } from '../../keys/secret.ts';
import { WEB_SESSION_PREFIX } from '../auth/web-cookie.ts';
import type { Auditor } from '../../store/audit.ts';
import type { Visitor } from './login-codes.ts';
import { SCOPES, sharedScopes } from '../../keys/scopes.ts';
import type { Logins, StoredLogin } from './logins.ts';

/**
 * Signed browser cookies with the id of the login, its key and when it expires. A cookie is valid on every node and across
 * restarts, until it expires, its key is revoked or the browser signs out.
 */
export interface WebSessions extends Credentials {
  issue(visitor: Visitor, from?: VisitedFrom, audit?: Auditor): Promise<string>;
  /** Signs the browser out on every node. Does nothing if the cookie is not valid. */
  end(token: string, auditorOf?: (credential: Credential) => Auditor): Promise<void>;
}

/** Where a browser was signed in, for the list of logins. */
export interface VisitedFrom {
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** What cookies are signed and checked with. */
export interface WebSessionsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, 'findById' | 'noteUse'>;
  readonly logins: Logins;
}

/** Creates the sessions; a cookie whose key or login is gone is refused. */
export function createWebSessions({ signingKey, clock, keys, logins }: WebSessionsOptions): WebSessions {
  return {
    issue: async ({ keyId, workspaceId, role, scopes }, from = {}, audit) => {
      const expiresAt = clock.now() + httpLimits.webSessionMs;
      const loginId = await logins.begin({ workspaceId, expiresAt, keyId, role, scopes, ...from }, audit);
      const fields: Fields = [workspaceId, keyId, expiresAt, loginId];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return `${WEB_SESSION_PREFIX}${payload}.${sign(payload).toString('base64url')}`;
    },
    find,
    end: async (token, auditorOf) => {
      const [, , , loginId] = read(token) ?? [];
      const credential = await find(token);
      const entry = credential && auditorOf?.(credential)('login.ended', loginId ?? null);
      if (loginId !== undefined) await logins.end(loginId, entry);
    },
  };

  async function find(token: string): Promise<Credential | undefined> {
    const [workspaceId, keyId, expiresAt, loginId] = read(token) ?? [];
    if (expiresAt === undefined || expiresAt <= clock.now()) return undefined;
    const credential = await keys.findById(keyId!);
    if (credential?.kind !== 'api' || credential.workspaceId !== workspaceId) return undefined;
    const login = await logins.find(loginId);
    if (login === undefined) return undefined;
    keys.noteUse(credential.id);
    return toCredential(credential, login);
  }

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

/** The rights of the key, as far as the login has them. */
function toCredential(key: ApiCredential, { id, role, scopes }: StoredLogin): ApiCredential {
  const login = role === undefined ? { id } : { id, role };
  if (scopes === undefined) return { ...key, login };
  return { ...key, login, scopes: sharedScopes(key.scopes ?? SCOPES, scopes) };
}

/** Workspace, key, expiry, login. Cookies of older versions have no login and are refused. */
type Fields = [string, string, number, string | undefined];
