import type { IncomingHttpHeaders } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { limits } from '../../base/limits.ts';
import type { App } from '../app.ts';
import { type Access, authenticate } from '../auth/authenticate.ts';
import { readWebCookie, toSetCookie } from '../auth/web-cookie.ts';
import { doorError } from '../door-error.ts';
import { type Exchange, pathOf } from '../exchange.ts';
import { readBody } from '../request/read-body.ts';
import type { Dashboard } from './dashboard.ts';
import type { Visitor } from './login-codes.ts';
import { sendFile, sendPage } from './send-page.ts';

export interface DashboardServices {
  readonly access: Access;
  readonly onMishap: (error: unknown, requestId: string) => void;
}

/** The pages at `/`, and the ways in: `GET /login?code=…` once, `POST /login` with a key, `POST /logout` out again. */
export function mountDashboard(app: App, dashboard: Dashboard, { access, onMishap }: DashboardServices): void {
  mount('GET', '/', 'dashboard', async (exchange) => {
    if (await isSignedIn(exchange)) await sendFile(exchange, dashboard, '/index.html');
    else redirect(exchange, './login');
  });
  mount('GET', '/login', 'dashboard.login', async (exchange) => {
    if (isPrefetch(exchange.incoming.headers)) return declinePrefetch(exchange);
    const { method, url = '/' } = exchange.incoming;
    const code = new URL(url, 'http://here').searchParams.get('code');
    // Link checkers send HEAD. Only the visit itself may use the code up.
    if (method === 'HEAD') return await sendPage(exchange, dashboard, '/login.html', { status: 200 });
    const visitor = code === null ? undefined : await dashboard.codes.take(code);
    if (visitor !== undefined) return await letIn(exchange, visitor);
    if (await isSignedIn(exchange)) return redirect(exchange, './');
    await sendPage(exchange, dashboard, '/login.html', code === null ? { status: 200 } : USED_LINK);
  });
  mount('POST', '/login', 'dashboard.login', async (exchange) => {
    exchange.acceptBody();
    const form = new URLSearchParams((await readBody(exchange.incoming, limits.loginBodyBytesMax)).toString());
    const found = await dashboard.findKey(form.get('key')?.trim() ?? '');
    if (found === undefined) return await sendPage(exchange, dashboard, '/login.html', WRONG_KEY);
    await letIn(exchange, { keyId: found.id, workspaceId: found.workspaceId });
  });
  mount('POST', '/logout', 'dashboard.logout', async (exchange) => {
    const cookie = readWebCookie(exchange.incoming.headers);
    if (cookie !== undefined) await dashboard.sessions?.end(cookie);
    exchange.outgoing.setHeader('set-cookie', toSetCookie(exchange.incoming.headers, undefined));
    redirect(exchange, './login');
  });
  for (const path of ['/assets/*', '/recording.html', '/favicon.svg', '/favicon-needs.svg']) {
    mount('GET', path, 'dashboard.file', (exchange) => sendFile(exchange, dashboard, pathOf(exchange.incoming)));
  }

  function mount(method: string, path: string, name: string, answer: (exchange: Exchange) => Promise<void>): void {
    app.on(method, path, async ({ env: { exchange } }) => {
      exchange.route = name;
      try {
        await answer(exchange);
      } catch (error) {
        exchange.refuse(error, onMishap);
      }
      return RESPONSE_ALREADY_SENT;
    });
  }

  async function isSignedIn({ incoming }: Exchange): Promise<boolean> {
    const { cookie, host } = incoming.headers;
    return await authenticate(access, { cookie, host }).then(
      () => true,
      () => false,
    );
  }

  /**
   * With a page that goes on by itself. A redirect would still count as coming from wherever the link was, and then
   * browsers hold the cookie back that they have just been given.
   */
  async function letIn(exchange: Exchange, visitor: Visitor): Promise<void> {
    if (dashboard.sessions === undefined) return redirect(exchange, './');
    const token = await dashboard.sessions.issue(visitor);
    const { incoming, outgoing } = exchange;
    outgoing.setHeader('set-cookie', toSetCookie(incoming.headers, token));
    outgoing.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    outgoing.end(
      '<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0;url=./"><title>Fleetloom</title>',
    );
  }
}

const WRONG_KEY = { status: 401, problem: 'This key is not known here, or it was revoked.' };
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
  if (outgoing.headersSent) throw doorError('invalid_request', 'the answer has begun');
  outgoing.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}
