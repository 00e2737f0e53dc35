import { requestError } from '../../base/request-error.ts';
import { toSetCookie } from '../auth/web-cookie.ts';
import { httpLimits } from '../limits.ts';
import { createAuditorOf, toVisitorBy } from '../routing/auditor.ts';
import type { Exchange } from '../routing/exchange.ts';
import type { Dashboard } from './dashboard.ts';
import type { NewVisitor } from './web-sessions.ts';

/**
 * Sets the cookie with a page whose script redirects. After an HTTP redirect the request would still count as a request of
 * the site with the link, and browsers would not send the new cookie. Returns false and sends nothing if the visitor's key or the login
 * that the link was made with has ended.
 */
export async function signIn(
  exchange: Exchange,
  dashboard: Pick<Dashboard, 'sessions' | 'clock'>,
  visitor: NewVisitor,
  target = './',
): Promise<boolean> {
  const { sessions, clock } = dashboard;
  const { incoming, outgoing } = exchange;
  if (sessions === undefined) {
    redirect(exchange, target);
    return true;
  }
  const from = {
    address: exchange.address,
    userAgent: incoming.headers['user-agent']?.slice(0, httpLimits.userAgentCharsMax),
  };
  const audit = createAuditorOf(exchange, visitor.workspaceId, toVisitorBy(visitor));
  const issued = await sessions.issue(visitor, from, audit);
  if (issued === undefined) return false;
  outgoing.appendHeader('set-cookie', toSetCookie(exchange, issued.token, issued.expiresAt - clock.now()));
  outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
  outgoing.end(
    `<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=${target}"><title>Fleetloom</title>`,
  );
  return true;
}

/** The page of the dashboard that a link names. Only letters: the name becomes a part of a page. */
export function toTarget(page: string | null, base = './'): string {
  return page !== null && /^[a-z]{1,20}$/.test(page) ? `${base}#/${page}` : base;
}

/** Sends a browser to another page. */
export function redirect({ outgoing }: Exchange, location: string): void {
  if (outgoing.headersSent) throw requestError('invalid_request', 'the answer has begun');
  outgoing.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}
