import type { IncomingHttpHeaders } from 'node:http';
import { httpLimits } from '../limits.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import { type Access, authenticate } from '../auth/authenticate.ts';
import { readWebCookie, toSetCookie } from '../auth/web-cookie.ts';
import { requestError } from '../../base/request-error.ts';
import type { Exchange } from '../routing/exchange.ts';
import { createAuditor } from '../routing/auditor.ts';
import { pathOf } from '../routing/request-path.ts';
import { readBody } from '../request/read-body.ts';
import type { Dashboard } from './dashboard.ts';
import type { Visitor } from './login-codes.ts';
import { sendFile, sendPage } from './send-page.ts';

/** What the dashboard shares with the other routes. */
export interface DashboardServices {
  readonly access: Access;
}

/** Browsers read them without the cookie. */
const publicFiles = [
  '/favicon.svg',
  '/favicon-needs.svg',
  '/manifest.webmanifest',
  '/icon-192.png',
  '/icon-512.png',
  '/icon-maskable.png',
  '/apple-touch-icon.png',
] as const;

/** The pages at `/`, and signing in and out: `GET /login?code=…` (once), `POST /login` with a key, `POST /logout`. */
export function dashboardEndpoints(dashboard: Dashboard, { access }: DashboardServices): readonly Endpoint[] {
  const endpoints: Endpoint[] = [];
  add('GET', '/', 'dashboard', async (exchange) => {
    if (await isSignedIn(exchange)) await sendFile(exchange, dashboard, '/index.html');
    else redirect(exchange, './login');
  });
  add('GET', '/login', 'dashboard.login', async (exchange) => {
    if (isPrefetch(exchange.incoming.headers)) return declinePrefetch(exchange);
    const { method, url = '/' } = exchange.incoming;
    const { searchParams } = new URL(url, 'http://here');
    const code = searchParams.get('code');
    // Link checkers send HEAD. Only the visit itself may use the code.
    if (method === 'HEAD') return await sendPage(exchange, dashboard, '/login.html', { status: 200 });
    const visitor = code === null ? undefined : await dashboard.codes.take(code);
    const target = toTarget(searchParams.get('page'));
    if (visitor !== undefined) return await letIn(exchange, visitor, target);
    if (await isSignedIn(exchange)) return redirect(exchange, target);
    await sendPage(exchange, dashboard, '/login.html', code === null ? { status: 200 } : USED_LINK);
  });
  add('POST', '/login', 'dashboard.login', async (exchange) => {
    exchange.acceptBody();
    const form = new URLSearchParams((await readBody(exchange.incoming, httpLimits.loginBodyBytesMax)).toString());
    const found = await dashboard.findKey(form.get('key')?.trim() ?? '');
    if (found === undefined) return await sendPage(exchange, dashboard, '/login.html', WRONG_KEY);
    await letIn(exchange, { keyId: found.id, workspaceId: found.workspaceId });
  });
  add('POST', '/logout', 'dashboard.logout', async (exchange) => {
    const cookie = readWebCookie(exchange.incoming.headers);
    if (cookie !== undefined) {
      await dashboard.sessions?.end(cookie, (credential) => createAuditor(exchange, credential));
    }
    exchange.outgoing.setHeader('set-cookie', toSetCookie(exchange.incoming, undefined));
    redirect(exchange, './login');
  });
  for (const path of ['/assets/*', '/recording.html', '/push-worker.js', ...publicFiles]) {
    add('GET', path, 'dashboard.file', (exchange) => sendFile(exchange, dashboard, pathOf(exchange.incoming)));
  }
  return endpoints;

  function add(method: string, path: string, name: string, handle: Endpoint['handle']): void {
    endpoints.push({ method, path, name, handle });
  }

  async function isSignedIn({ incoming }: Exchange): Promise<boolean> {
    const { cookie, host } = incoming.headers;
    return await authenticate(access, { cookie, host }).then(
      () => true,
      () => false,
    );
  }

  /**
   * Sets the cookie with a page that redirects on its own. After an HTTP redirect the request would still count as one of
   * the site with the link, and browsers would not send the new cookie.
   */
  async function letIn(exchange: Exchange, visitor: Visitor, target = './'): Promise<void> {
    if (dashboard.sessions === undefined) return redirect(exchange, target);
    const { incoming, outgoing } = exchange;
    const from = {
      address: incoming.socket.remoteAddress,
      userAgent: incoming.headers['user-agent']?.slice(0, httpLimits.userAgentCharsMax),
    };
    const audit = createAuditor(exchange, { kind: 'api', id: visitor.keyId, workspaceId: visitor.workspaceId });
    const token = await dashboard.sessions.issue(visitor, from, audit);
    outgoing.setHeader('set-cookie', toSetCookie(incoming, token));
    outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    outgoing.end(
      `<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=${target}"><title>Fleetloom</title>`,
    );
  }
}

/** The page of the dashboard that a link names. Only letters: the name becomes a part of a page. */
function toTarget(page: string | null): string {
  return page !== null && /^[a-z]{1,20}$/.test(page) ? `./#/${page}` : './';
}

const WRONG_KEY = { status: 401, problem: 'This key is not known to the server, or it was revoked.' };
const USED_LINK = {
  status: 403,
  problem: 'This link has been used, or it is too old. Ask for a new one, or use a key.',
};

/** Whether a program fetches the page ahead of a visit, as a preview, or as a part of another page. */
function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purposes = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']];
  const destination = headers['sec-fetch-dest'];
  return (
    purposes.some((each) => /prefetch|prerender|preview/i.test(String(each ?? ''))) ||
    (destination ?? 'document') !== 'document'
  );
}

/** With an error status: browsers discard it and fetch the page again for the visit. */
function declinePrefetch({ outgoing }: Exchange): void {
  outgoing.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  outgoing.end('The sign-in page is not fetched ahead: its link works once.\n');
}

function redirect({ outgoing }: Exchange, location: string): void {
  if (outgoing.headersSent) throw requestError('invalid_request', 'the answer has begun');
  outgoing.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}
