import { type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { ToolFailure } from '../../tool-failure.ts';

/** A request to one checked address. */
export interface PageRequest {
  readonly url: URL;
  /** The only address to connect to: the name is not resolved again, so it cannot change in the meantime. */
  readonly address: string;
  readonly connectMs: number;
  readonly signal: AbortSignal;
}

/** Requests a page, without following redirects. Uses node:http, because Node's `fetch` does not accept the address to connect to. */
export async function openPage({ url, address, connectMs, signal }: PageRequest): Promise<IncomingMessage> {
  const isSecure = url.protocol === 'https:';
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const options: RequestOptions & { servername: string } = {
    host: address,
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method: 'GET',
    agent: false,
    headers: { host: url.host, ...HEADERS },
    // The name to verify in the certificate; empty for an address.
    servername: isIP(hostname) === 0 ? hostname : '',
    signal,
  };
  return await new Promise((resolve, reject) => {
    const request = isSecure ? requestHttps(options) : requestHttp(options);
    const patience = setTimeout(
      () => request.destroy(new ToolFailure(`no connection within ${connectMs} ms`)),
      connectMs,
    );
    request.on('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(patience));
    });
    let interim = 0;
    request.on('information', () => {
      if (++interim > INTERIM_MAX) request.destroy(new ToolFailure('the page sent too many interim answers'));
    });
    request.on('response', resolve);
    request.on('error', reject);
    request.on('close', () => clearTimeout(patience));
    request.end();
  });
}

/** Interim responses before the final one, such as 102. */
const INTERIM_MAX = 16;

const HEADERS = {
  'user-agent': 'fleetloom-web-fetch/0.1',
  accept: 'text/html, application/xhtml+xml, text/plain, application/json;q=0.9, */*;q=0.1',
  'accept-encoding': 'gzip, deflate, br',
  'accept-language': 'en;q=0.9, *;q=0.5',
};
