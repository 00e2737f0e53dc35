import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { deriveId } from '../digest.ts';
import { errorTypeOf, type Refusal, toErrorBody } from '../failure.ts';

export function sendJson(response: ServerResponse, status: number, body: object, headers?: OutgoingHttpHeaders): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** An error as the API sends it. */
export function sendRefusal(response: ServerResponse, refusal: Refusal, headers: OutgoingHttpHeaders = {}): void {
  const { status, requestId, retryAfterS } = refusal;
  const retry = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
  sendJson(response, status, toErrorBody(refusal), { 'request-id': requestId, ...retry, ...headers });
}

export interface HttpProblem {
  status: number;
  message: string;
  headers?: OutgoingHttpHeaders;
}

/** An error of the door itself: what was asked never reached the model. */
export function sendProblem(response: ServerResponse, { status, message, headers }: HttpProblem): void {
  const requestId = deriveId('req', 'door', String(status), message);
  const refusal = { type: 'refused' as const, status, errorType: errorTypeOf(status), message, requestId };
  sendRefusal(response, { ...refusal, retryAfterS: undefined }, headers);
}
