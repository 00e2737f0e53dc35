import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';
import { type Credential, type Credentials, DEFAULT_WORKSPACE, OPEN_ID } from './credential.ts';
import { checkOwnPage, readWebCookie } from './web-cookie.ts';

/** `open`: whoever reaches the server may do everything, for servers on loopback that have no keys. */
export type Access = Credentials | 'open';

/**
 * Who asks. A key comes as `Authorization: Bearer` or as `x-api-key`, depending on the age of the client. Of both the first
 * wins, unless it is an environment key: workers send theirs there, beside the key that their client has anyway. Without a
 * key, the cookie of a signed-in browser counts.
 */
export async function authenticate(access: Access, headers: IncomingHttpHeaders, method = 'GET'): Promise<Credential> {
  return (await identify(access, headers, method)).credential;
}

export interface Identity {
  readonly credential: Credential;
  /** What the caller has sent as its credential. Empty where everybody is let in. Must be neither kept nor logged. */
  readonly secret: string;
}

/** The same, together with the secret that counted. */
export async function identify(access: Access, headers: IncomingHttpHeaders, method: string): Promise<Identity> {
  if (access === 'open') return { credential: OPEN, secret: '' };
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  const apiKey = firstOf(headers['x-api-key'])?.trim() || undefined;
  if (bearer === undefined && apiKey === undefined) {
    const cookie = readWebCookie(headers);
    if (cookie !== undefined) {
      checkOwnPage(headers, method);
      return await find(access, cookie);
    }
    throw doorError('missing_key', 'this server asks for a key, and there is none');
  }
  if (bearer === undefined) return await find(access, apiKey!);
  const found = await find(access, bearer);
  return found.credential.kind === 'environment' && apiKey !== undefined ? await find(access, apiKey) : found;
}

const OPEN: Credential = { kind: 'api', id: OPEN_ID, workspaceId: DEFAULT_WORKSPACE };

async function find(credentials: Credentials, secret: string): Promise<Identity> {
  const credential = secret.length <= limits.secretCharsMax ? await credentials.find(secret) : undefined;
  // The secret is not part of the message: messages are logged.
  if (credential === undefined) throw doorError('wrong_key', 'this key is not known here');
  return { credential, secret };
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
