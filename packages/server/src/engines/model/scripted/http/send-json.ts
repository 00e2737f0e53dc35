import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { deriveId } from '../digest.ts';
import { errorTypeOf, type Refusal } from '../failure.ts';
import type { ModelApi } from './model-api.ts';

/** Sends a JSON response. */
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
export function sendRefusal(
  response: ServerResponse,
  api: ModelApi,
  refusal: Refusal,
  headers: OutgoingHttpHeaders = {},
): void {
  const { status, requestId, retryAfterS } = refusal;
  const retry = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
  sendJson(response, status, api.toErrorBody(refusal), { [api.requestIdHeader]: requestId, ...retry, ...headers });
}

/** An error response. */
export interface HttpProblem {
  status: number;
  message: string;
  headers?: OutgoingHttpHeaders;
}

/** An error of the route: the request did not reach the model. */
export function sendProblem(response: ServerResponse, api: ModelApi, { status, message, headers }: HttpProblem): void {
  const requestId = deriveId('req', 'door', String(status), message);
  const refusal = { type: 'refused' as const, status, errorType: errorTypeOf(status), message, requestId };
  sendRefusal(response, api, { ...refusal, retryAfterS: undefined }, headers);
}
