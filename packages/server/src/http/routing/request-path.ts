import type { IncomingMessage } from 'node:http';
import { cutText } from '@fleetloom/protocol/fleet';
import { requestError } from '../../base/request-error.ts';

/** The path of a request as it was sent, without its query. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/**
 * The path that a request is routed by: as {@link pathOf}, but without dot segments, fragments or the origin that clients of
 * proxies put before it. Throws if the request target is not a URL.
 */
export function toRoutedPath(request: Pick<IncomingMessage, 'url'>): string {
  const path = pathOf(request);
  if (PLAIN_PATH.test(path) && !path.includes('/.')) return path;
  const { url = '/' } = request;
  if (url === '') return '/';
  const isAbsolute = url.startsWith('http://') || url.startsWith('https://');
  if (isAbsolute || url.startsWith('/')) {
    const absolute = isAbsolute ? url : `http://localhost${url}`;
    if (URL.canParse(absolute)) return new URL(absolute).pathname;
  }
  throw requestError('invalid_request', `the request target ${cutText(url, 200)} is not a valid URL`);
}

/** Characters that no URL parser changes. */
const PLAIN_PATH = /^\/[\w!$&'()*+,\-./:;=@~]*$/;
