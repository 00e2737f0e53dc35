import { cutText } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';
import type { Exchange } from '../routing/exchange.ts';
import { pathOf } from '../routing/request-path.ts';
import type { Dashboard } from './dashboard.ts';
import type { WebFile } from './web-files.ts';

/** Sends a built file unchanged. */
export async function sendFile(exchange: Exchange, dashboard: Dashboard, path: string): Promise<void> {
  const files = await dashboard.files();
  if (files === undefined) return sendNotBuilt(exchange);
  const file = files.get(path);
  if (file === undefined) throw requestError('unknown_path', `there is no ${cutText(pathOf(exchange.incoming), 200)}`);
  const { incoming, outgoing } = exchange;
  const headers = { ...headersOf(file), etag: file.etag };
  if (incoming.headers['if-none-match'] === file.etag) return void outgoing.writeHead(304, headers).end();
  const isZipped = file.zipped !== undefined && /\bgzip\b/.test(incoming.headers['accept-encoding'] ?? '');
  const bytes = isZipped ? file.zipped : file.bytes;
  const encoding = isZipped ? { 'content-encoding': 'gzip' } : {};
  outgoing.writeHead(200, { ...headers, ...encoding, 'content-length': bytes.length }).end(bytes);
}

/** Sends a built page with a message and the providers inserted. */
export async function sendPage(
  exchange: Exchange,
  dashboard: Dashboard,
  path: string,
  { status, problem = '' }: { status: number; problem?: string },
): Promise<void> {
  const file = (await dashboard.files())?.get(path);
  if (file === undefined) return sendNotBuilt(exchange);
  const buttons = toButtons(exchange, dashboard);
  const text = file.bytes
    .toString()
    .replace('<!--problem-->', () => escape(problem))
    .replace('<!--providers-->', () => buttons);
  const headers = { ...headersOf(file), 'cache-control': 'no-store', 'content-length': Buffer.byteLength(text) };
  exchange.outgoing.writeHead(status, headers).end(text);
}

/** A button for each OpenID provider. */
function toButtons({ incoming: { url = '/' } }: Exchange, { signOn }: Dashboard): string {
  const page = new URL(url, 'http://here').searchParams.get('page');
  const query = page === null ? '' : `?page=${encodeURIComponent(page)}`;
  return (signOn?.providers ?? [])
    .map(({ config: { id, name } }) => `<a href="./login/oidc/${id}${escape(query)}">Sign in with ${escape(name)}</a>`)
    .join('');
}

/**
 * Allows only files of this server, and HTML from text only through the sanitizer: the pages show the output of agents, and
 * agents repeat content from the web.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  'trusted-types dompurify fleetloom',
  "require-trusted-types-for 'script'",
].join('; ');

function headersOf({ type, isHashed }: WebFile): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`: browsers would then send `Origin: null` with the forms of this page.
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    vary: 'accept-encoding',
    'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
}

function sendNotBuilt({ outgoing }: Exchange): void {
  outgoing.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  outgoing.end('The dashboard was not built. In a clone, run `npm run build`. The API works without it.\n');
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
