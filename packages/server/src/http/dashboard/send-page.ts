import { cutText } from '@fleetloom/protocol/fleet';
import { doorError } from '../door-error.ts';
import { type Exchange, pathOf } from '../exchange.ts';
import type { Dashboard } from './dashboard.ts';
import type { WebFile } from './web-files.ts';

/** A built file as it is. */
export async function sendFile(exchange: Exchange, dashboard: Dashboard, path: string): Promise<void> {
  const files = await dashboard.files();
  if (files === undefined) return sendNotBuilt(exchange);
  const file = files.get(path);
  if (file === undefined) throw doorError('unknown_path', `there is no ${cutText(pathOf(exchange.incoming), 200)}`);
  const { incoming, outgoing } = exchange;
  const headers = { ...headersOf(file), etag: file.etag };
  if (incoming.headers['if-none-match'] === file.etag) return void outgoing.writeHead(304, headers).end();
  const isZipped = file.zipped !== undefined && /\bgzip\b/.test(incoming.headers['accept-encoding'] ?? '');
  const bytes = isZipped ? file.zipped : file.bytes;
  const encoding = isZipped ? { 'content-encoding': 'gzip' } : {};
  outgoing.writeHead(200, { ...headers, ...encoding, 'content-length': bytes.length }).end(bytes);
}

/** A built page with a sentence of ours in it. */
export async function sendPage(
  exchange: Exchange,
  dashboard: Dashboard,
  path: string,
  { status, problem = '' }: { status: number; problem?: string },
): Promise<void> {
  const file = (await dashboard.files())?.get(path);
  if (file === undefined) return sendNotBuilt(exchange);
  const text = file.bytes.toString().replace('<!--problem-->', () => escape(problem));
  const headers = { ...headersOf(file), 'cache-control': 'no-store', 'content-length': Buffer.byteLength(text) };
  exchange.outgoing.writeHead(status, headers).end(text);
}

/**
 * Nothing but what this server itself serves, and no HTML from text except through the sanitizer: what agents say is
 * shown in these pages, and agents read what strangers write.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
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
    // Not `no-referrer`: browsers then hide the Origin of our own forms too.
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
  outgoing.end('The dashboard was not built. In a clone, `npm run build` does it. The API works without it.\n');
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
