import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectionLog } from './connection-log.ts';
import { forwardRequest } from './forward-request.ts';
import { isName } from './open-tunnel.ts';
import { logOpened, openTarget, type OpenTargetOptions, Refusal } from './open-target.ts';
import { listValues, toHost } from './raw-headers.ts';

/** A request without encryption, as a client sends it to a proxy. */
export interface PlainRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Forwards a request to the URL that it names. Throws a {@link Refusal}. */
export async function forwardPlain(
  options: OpenTargetOptions & { readonly log: ConnectionLog },
  { request, response, signal }: PlainRequest,
): Promise<void> {
  const url = toUrl(request.url ?? '');
  const hosts = listValues(request.rawHeaders, 'host');
  if (hosts.length !== 1 || toHost(hosts[0]!, 80) !== toHost(url.host, 80)) {
    throw new Refusal('host_header_differs', `the Host header has to be ${url.host}, as the URL`, 400);
  }
  const target = { host: url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''), port: Number(url.port || 80) };
  const { far } = await openTarget(options, target, signal);
  const logged = await logOpened(options.log, far, target, 'http');
  far.once('close', () => logged.close({ bytesSent: far.bytesWritten, bytesReceived: far.bytesRead }));
  // The client left before a listener for it was registered.
  if (signal.aborted) return void far.destroy();
  const path = `${url.pathname}${url.search}`;
  await forwardRequest({ request, response, path, connection: { socket: far }, shown: url.host });
}

function toUrl(text: string): URL {
  const url = /^http:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '' && !text.includes('@');
  if (isPlain && isName(url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''))) return url;
  const message = 'this is a proxy: send requests with an absolute http:// URL, and CONNECT for https';
  throw new Refusal('request_not_understood', message, 400);
}
