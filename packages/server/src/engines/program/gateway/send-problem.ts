import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';

/** Sends an error of the gateway itself in the format of the API, which the program can read. */
export function sendProblem(
  request: IncomingMessage,
  response: ServerResponse,
  status: keyof typeof errorTypes,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = JSON.stringify({ type: 'error', error: { type: errorTypes[status], message } });
  // A client that is still sending when the connection closes loses the response.
  request.resume();
  // With its own status message: the response might otherwise keep the one of an endpoint's response that could not be forwarded.
  response.writeHead(status, STATUS_CODES[status] ?? '', {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

const errorTypes = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'request_too_large',
  502: 'api_error',
  529: 'overloaded_error',
};
