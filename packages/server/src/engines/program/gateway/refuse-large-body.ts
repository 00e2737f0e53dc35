import type { IncomingMessage, ServerResponse } from 'node:http';
import { programLimits } from '../limits.ts';
import { sendProblem } from './send-problem.ts';

/** Rejects a request that announces too large a body, or is known to have one, and stops reading it. Returns whether it was rejected. */
export function refuseLargeBody(
  request: IncomingMessage,
  response: ServerResponse,
  { isKnown = false }: { readonly isKnown?: boolean } = {},
): boolean {
  const { gatewayRequestBytesMax: max } = programLimits;
  if (!isKnown && !(Number(request.headers['content-length'] ?? 0) > max)) return false;
  // A sender that never ends must not be read without a limit.
  response.once('finish', () => request.socket.destroySoon());
  sendProblem(request, response, 413, `A request has at most ${max} bytes`, { connection: 'close' });
  return true;
}
