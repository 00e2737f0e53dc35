import type { IncomingMessage, ServerResponse } from 'node:http';

/** Aborts when the program closes the connection or the session is closed, unless the response is complete. */
export function watchHangUp(request: IncomingMessage, response: ServerResponse, closing: AbortSignal) {
  const gone = new AbortController();
  request.on('error', () => gone.abort());
  response.on('error', () => gone.abort());
  response.on('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return { signal: AbortSignal.any([gone.signal, closing]), isGone: () => gone.signal.aborted || closing.aborted };
}
