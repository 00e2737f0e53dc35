import { sendAnswer } from '../response/answer.ts';
import type { Exchange } from '../routing/exchange.ts';

/** Allows a page of an allowed origin to read the response. Returns true if the request was a preflight, whose response is sent. */
export function allowOrigin({ incoming, outgoing }: Exchange): boolean {
  outgoing.setHeader('access-control-allow-origin', incoming.headers.origin!);
  outgoing.setHeader('access-control-expose-headers', 'request-id, retry-after');
  outgoing.setHeader('vary', 'origin');
  if (incoming.method !== 'OPTIONS') return false;
  sendAnswer(outgoing, {
    status: 200,
    headers: {
      'access-control-allow-methods': 'GET, POST, DELETE',
      'access-control-allow-headers': incoming.headers['access-control-request-headers'] ?? '',
      'access-control-max-age': '600',
    },
    body: {},
  });
  return true;
}
