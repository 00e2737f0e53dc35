import type { IncomingHttpHeaders } from 'node:http';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';
import { type Credential, type Credentials, DEFAULT_WORKSPACE, OPEN_ID } from '../../keys/credential.ts';
import { checkOwnPage, readWebCookie } from './web-cookie.ts';

/** `open`: every client that reaches the server may do everything; for servers on loopback without keys. */
export type Access = Credentials | 'open';

/**
 * The credential of a request. A key arrives as `Authorization: Bearer` or as `x-api-key`, depending on the version of the
 * client. If both are sent, `Authorization` wins unless `x-api-key` is an environment key: workers send such a key there, beside
 * the key of their client. Without a key, the cookie of a signed-in browser is used.
 */
export async function authenticate(access: Access, headers: IncomingHttpHeaders, method = 'GET'): Promise<Credential> {
  return (await identify(access, headers, method)).credential;
}

/** A caller with the secret that it was identified by. */
export interface Identity {
  readonly credential: Credential;
  /** The secret as the caller sent it. Empty if the server needs no key. Must not be stored or logged. */
  readonly secret: string;
}

/** As {@link authenticate}, and also returns the secret that was accepted. */
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
    throw requestError('missing_key', 'this server requires a key, and the request has none');
  }
  if (bearer === undefined) return await find(access, apiKey!);
  const found = await find(access, bearer);
  return found.credential.kind === 'environment' && apiKey !== undefined ? await find(access, apiKey) : found;
}

const OPEN: Credential = { kind: 'api', id: OPEN_ID, workspaceId: DEFAULT_WORKSPACE };

async function find(credentials: Credentials, secret: string): Promise<Identity> {
  const credential = secret.length <= httpLimits.secretCharsMax ? await credentials.find(secret) : undefined;
  // The secret is not part of the message: messages are logged.
  if (credential === undefined) throw requestError('wrong_key', 'this key is not known to the server');
  return { credential, secret };
}

function firstOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
