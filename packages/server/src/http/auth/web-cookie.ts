import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { requestError } from '../../base/request-error.ts';

/** The prefix of the cookie value of a signed-in browser. */
export const WEB_SESSION_PREFIX = 'fleetloom_web_';

/** Browsers share cookies between the ports of a host, so each server has a name of its own. */
export function webCookieName({ host = '' }: IncomingHttpHeaders): string {
  return `fleetloom_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'web'}`;
}

/** The browser session in the cookie of a request, if there is one. A key in a cookie is ignored. */
export function readWebCookie(headers: IncomingHttpHeaders): string | undefined {
  const value = readCookie(headers, webCookieName(headers));
  return value?.startsWith(WEB_SESSION_PREFIX) ? value : undefined;
}

/**
 * A browser also sends its cookie with requests that other pages make. A request that changes something must therefore have
 * the `Origin` of a page of this server: browsers send it with all such requests, and a page cannot change it.
 */
export function checkOwnPage({ origin, host = '' }: IncomingHttpHeaders, method: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  const own = host.toLowerCase();
  if (origin === `http://${own}` || origin === `https://${own}`) return;
  throw requestError('wrong_origin', 'a cookie is accepted only with the Origin of a page of this server');
}

/** A request whose response sets a cookie. */
export interface CookieRequest {
  readonly incoming: Pick<IncomingMessage, 'headers'>;
  /** Whether the client has used https. */
  readonly isSecure: boolean;
}

/** Scripts cannot read the cookie, it is not sent to or for another site, and it expires with its session. */
export function toSetCookie({ incoming, isSecure }: CookieRequest, token = '', ms = 0): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const name = webCookieName(incoming.headers);
  return `${name}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${toSecure(isSecure)}`;
}

/** The sign-in in progress at an OpenID provider, from the cookie of a request. */
export function readFlowCookie(headers: IncomingHttpHeaders): string | undefined {
  return readCookie(headers, flowCookieName(headers));
}

/** The cookie of a sign-in. Browsers also send it when the provider redirects back, which is a request of another site. */
export function toFlowCookie({ incoming, isSecure }: CookieRequest, flow = '', ms = 0): string {
  const name = flowCookieName(incoming.headers);
  return `${name}=${flow}; Path=/; Max-Age=${Math.floor(ms / 1_000)}; HttpOnly; SameSite=Lax${toSecure(isSecure)}`;
}

function flowCookieName(headers: IncomingHttpHeaders): string {
  return `${webCookieName(headers)}_sign_in`;
}

function toSecure(isSecure: boolean): string {
  return isSecure ? '; Secure' : '';
}

function readCookie(headers: IncomingHttpHeaders, name: string): string | undefined {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at !== -1 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
