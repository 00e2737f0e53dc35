import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { httpLimits } from '../limits.ts';
import { requestError } from '../../base/request-error.ts';

/** The prefix of the cookie value of a signed-in browser. */
export const WEB_SESSION_PREFIX = 'fleetloom_web_';

/** Browsers share cookies between the ports of a host, so each server has a name of its own. */
export function webCookieName({ host = '' }: IncomingHttpHeaders): string {
  return `fleetloom_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'web'}`;
}

/** The browser session in the cookie of a request, if there is one. A key in a cookie is ignored. */
export function readWebCookie(headers: IncomingHttpHeaders): string | undefined {
  const name = webCookieName(headers);
  for (const pair of (headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    const value = pair.slice(at + 1).trim();
    if (at !== -1 && pair.slice(0, at).trim() === name && value.startsWith(WEB_SESSION_PREFIX)) return value;
  }
  return undefined;
}

/**
 * A browser also sends its cookie with requests that other pages make. A request that changes something must therefore have
 * the `Origin` of a page of ours: browsers send it with all of those, and a page cannot change it.
 */
export function checkOwnPage({ origin, host = '' }: IncomingHttpHeaders, method: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  const own = host.toLowerCase();
  if (origin === `http://${own}` || origin === `https://${own}`) return;
  throw requestError('wrong_origin', 'a cookie is accepted only with the Origin of a page of this server');
}

/** Scripts cannot read the cookie, it is not sent to or for another site, and it expires with its session. */
export function toSetCookie({ headers, socket }: IncomingMessage, token: string | undefined): string {
  const seconds = token === undefined ? 0 : Math.floor(httpLimits.webSessionMs / 1_000);
  const isSecure = headers['x-forwarded-proto'] === 'https' || ('encrypted' in socket && socket.encrypted === true);
  const secure = isSecure ? '; Secure' : '';
  return `${webCookieName(headers)}=${token ?? ''}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
