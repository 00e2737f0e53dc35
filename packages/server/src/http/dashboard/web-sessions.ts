import { createHmac } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { httpLimits } from '../limits.ts';
import type { ApiCredential, Credential, Credentials, LoginOfCredential } from '../../keys/credential.ts';
import type { KeyStore } from '../../keys/key-store.ts';
import { type Person, toPersonId, toPersonName } from '../../keys/person.ts';
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
  /** Signs a browser in. Undefined if the key of the visitor, or a login that its link was made with, has ended. */
  issue(visitor: NewVisitor, from?: VisitedFrom, audit?: Auditor): Promise<IssuedSession | undefined>;
  /** Signs the browser out on every node. Undefined if the cookie is not valid. */
  end(token: string, auditorOf?: (credential: Credential) => Auditor): Promise<StoredLogin | undefined>;
}

/** A cookie and when it expires. */
export interface IssuedSession {
  readonly token: string;
  readonly expiresAt: number;
}

/** A visitor, with the data of a person who signed in at an OpenID provider. */
export interface NewVisitor extends Visitor {
  readonly sessionMs?: number | undefined;
  readonly idToken?: string | undefined;
  readonly providerSession?: string | undefined;
}

/** The client of a sign-in, for the list of logins. */
export interface VisitedFrom {
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
}

/** The key, clock and stores for signing and checking cookies. */
export interface WebSessionsOptions {
  readonly signingKey: Uint8Array;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, 'findById' | 'noteUse'>;
  readonly logins: Logins;
}

/** Creates the sessions; a cookie whose key or login has ended is rejected. */
export function createWebSessions({ signingKey, clock, keys, logins }: WebSessionsOptions): WebSessions {
  return {
    issue: async ({ sessionMs = httpLimits.webSessionMs, ...visitor }, from = {}, audit) => {
      const { keyId, workspaceId, person } = visitor;
      if (person === undefined && (await findKey(keyId, workspaceId)) === undefined) return undefined;
      const login = await logins.begin({ ...visitor, expiresAt: clock.now() + sessionMs, ...from }, audit);
      if (login === undefined) return undefined;
      const { expiresAt } = login;
      const fields: Fields = [workspaceId, keyId, expiresAt, login.id];
      const payload = Buffer.from(JSON.stringify(fields)).toString('base64url');
      return { token: `${WEB_SESSION_PREFIX}${payload}.${sign(payload).toString('base64url')}`, expiresAt };
    },
    find: async (token) => (await findLogin(token))?.credential,
    end: async (token, auditorOf) => {
      const found = await findLogin(token);
      if (found === undefined) return undefined;
      const { credential, login } = found;
      await logins.end(login.id, auditorOf?.(credential)('login.ended', login.id));
      return login;
    },
  };

  async function findLogin(token: string) {
    const [workspaceId, keyId, expiresAt, loginId] = read(token) ?? [];
    if (expiresAt === undefined || expiresAt <= clock.now()) return undefined;
    const login = await logins.find(loginId);
    if (login === undefined || login.workspaceId !== workspaceId) return undefined;
    const { person } = login;
    if (person !== undefined) return { login, credential: toPersonCredential(person, login) };
    const key = await findKey(keyId!, workspaceId);
    if (key === undefined) return undefined;
    keys.noteUse(key.id);
    return { login, credential: toCredential(key, login) };
  }

  async function findKey(keyId: string, workspaceId: string): Promise<ApiCredential | undefined> {
    const key = await keys.findById(keyId);
    return key?.kind === 'api' && key.workspaceId === workspaceId ? key : undefined;
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

/** The credential of a login: the rights of the key, limited by the login. */
function toCredential(key: ApiCredential, login: StoredLogin): ApiCredential {
  const { scopes } = login;
  if (scopes === undefined) return { ...key, login: toLogin(login) };
  return { ...key, login: toLogin(login), scopes: sharedScopes(key.scopes ?? SCOPES, scopes) };
}

/** The credential of a person: the grants of the provider's groups at the sign-in, until the login expires. */
function toPersonCredential(person: Person, login: StoredLogin): ApiCredential {
  const { workspaceId, scopes = [], expiresAt } = login;
  const [id, name] = [toPersonId(person), toPersonName(person)];
  return { kind: 'api', id, workspaceId, name, scopes, expiresAt, login: toLogin(login), person };
}

function toLogin({ id, role, madeWith }: StoredLogin): LoginOfCredential {
  return { id, ...(role && { role }), ...(madeWith && { madeWith }) };
}

/** Workspace, key, expiry, login. Cookies of older versions have no login and are rejected. */
type Fields = [string, string, number, string | undefined];
