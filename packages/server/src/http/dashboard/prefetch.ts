import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange } from '../routing/exchange.ts';

/** Whether a program fetches the page ahead of a visit, as a preview, or as a part of another page. */
export function isPrefetch(headers: IncomingHttpHeaders): boolean {
  const purposes = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']];
  const destination = headers['sec-fetch-dest'];
  return (
    purposes.some((each) => /prefetch|prerender|preview/i.test(String(each ?? ''))) ||
    (destination ?? 'document') !== 'document'
  );
}

/** Declines a prefetch with an error status: browsers discard the response and fetch the page again for the visit. */
export function declinePrefetch({ outgoing }: Exchange): void {
  outgoing.writeHead(503, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' });
  outgoing.end('The sign-in page is not fetched ahead: its link works once.\n');
}
