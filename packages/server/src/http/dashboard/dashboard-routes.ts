import { httpLimits } from '../limits.ts';
import type { Endpoint } from '../routing/endpoint.ts';
import { type Access, authenticate } from '../auth/authenticate.ts';
import { readWebCookie, toSetCookie } from '../auth/web-cookie.ts';
import type { Exchange } from '../routing/exchange.ts';
import { createAuditor } from '../routing/auditor.ts';
import { pathOf } from '../routing/request-path.ts';
import { sendAnswer } from '../response/answer.ts';
import { readBody } from '../request/read-body.ts';
import type { Dashboard } from './dashboard.ts';
import { declinePrefetch, isPrefetch } from './prefetch.ts';
import { findProviderLogout, signOnEndpoints, toSignOnProblem } from './sign-on-endpoints.ts';
import { redirect, signIn, toTarget } from './sign-in.ts';
import { sendFile, sendPage } from './send-page.ts';

/** The services that the dashboard shares with the other routes. */
export interface DashboardServices {
  readonly access: Access;
}

/** Files that browsers request without the cookie. */
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
    // Link checkers send HEAD. Only a visit of a browser may use the code.
    if (method === 'HEAD') return await sendPage(exchange, dashboard, '/login.html', { status: 200 });
    const visitor = code === null ? undefined : await dashboard.codes.take(code);
    const target = toTarget(searchParams.get('page'));
    if (visitor !== undefined && (await signIn(exchange, dashboard, visitor, target))) return;
    if (await isSignedIn(exchange)) return redirect(exchange, target);
    const page = code === null ? toSignOnProblem(searchParams.get('problem')) : USED_LINK;
    await sendPage(exchange, dashboard, '/login.html', page);
  });
  add('POST', '/login', 'dashboard.login', async (exchange) => {
    exchange.acceptBody();
    const form = new URLSearchParams((await readBody(exchange.incoming, httpLimits.loginBodyBytesMax)).toString());
    const found = await dashboard.findKey(form.get('key')?.trim() ?? '');
    const visitor = found && { keyId: found.id, workspaceId: found.workspaceId };
    if (visitor !== undefined && (await signIn(exchange, dashboard, visitor))) return;
    await sendPage(exchange, dashboard, '/login.html', WRONG_KEY);
  });
  add('POST', '/logout', 'dashboard.logout', async (exchange) => {
    const { incoming, outgoing } = exchange;
    const cookie = readWebCookie(incoming.headers);
    const ended =
      cookie && (await dashboard.sessions?.end(cookie, (credential) => createAuditor(exchange, credential)));
    outgoing.setHeader('set-cookie', toSetCookie(exchange));
    const location = (ended && (await findProviderLogout(dashboard, ended))) ?? './login';
    // The script of the page opens the address: it may not follow a redirect to another site.
    if (incoming.headers.accept !== 'application/json') return redirect(exchange, location);
    sendAnswer(outgoing, { status: 200, headers: { 'cache-control': 'no-store' }, body: { location } });
  });
  endpoints.push(...signOnEndpoints(dashboard));
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
}

const WRONG_KEY = { status: 401, problem: 'This key is not known to the server, or it was revoked.' };
const USED_LINK = {
  status: 403,
  problem: 'This link has been used, or it is too old. Ask for a new one, or use a key.',
};
