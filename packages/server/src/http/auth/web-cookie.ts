import type { IncomingHttpHeaders } from 'node:http';
import { limits } from '../../base/limits.ts';
import { doorError } from '../door-error.ts';

/** What the cookie of a signed-in browser begins with. */
export const WEB_SESSION_PREFIX = 'fleetloom_web_';

/** Browsers share cookies between the ports of a host, so each server has a name of its own. */
export function webCookieName({ host = '' }: IncomingHttpHeaders): string {
  return `fleetloom_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'web'}`;
}

/** The session of the browser that asks, if it has one. Keys do not belong into cookies, so nothing else is taken. */
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
 * A browser sends its cookie with requests that other pages make it send. What changes something therefore needs to say
 * that it comes from a page of ours: browsers put the `Origin` on all of those, and no page can change it.
 */
export function checkOwnPage({ origin, host = '' }: IncomingHttpHeaders, method: string): void {
  if (method === 'GET' || method === 'HEAD') return;
  const own = host.toLowerCase();
  if (origin === `http://${own}` || origin === `https://${own}`) return;
  throw doorError('wrong_origin', 'a cookie counts only with the Origin of a page of this server');
}

/** Out of reach for scripts, never sent to or for another site, gone when it is of no use any more. */
export function toSetCookie(headers: IncomingHttpHeaders, token: string | undefined): string {
  const seconds = token === undefined ? 0 : Math.floor(limits.webSessionMs / 1_000);
  const secure = headers['x-forwarded-proto'] === 'https' ? '; Secure' : '';
  return `${webCookieName(headers)}=${token ?? ''}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}
