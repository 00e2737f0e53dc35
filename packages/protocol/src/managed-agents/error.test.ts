import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { detailStatuses, type ErrorBody, type ErrorType, errorStatuses, eventTypes, idPrefixes } from './index.ts';

/** Refuses everything, in the way that was asked for last. */
let server: Server;
let answer: { status: number; error: ErrorBody['error'] };

beforeAll(async () => {
  server = createServer((_, response) => {
    const body: ErrorBody = { type: 'error', error: answer.error, request_id: 'req_1' };
    response.writeHead(answer.status, { 'content-type': 'application/json', 'request-id': 'req_1' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

it('[A2] the official SDK reads each type of error, at its status, as the class of that status', async () => {
  const classes: string[] = [];
  // Object.entries forgets that the keys are the types.
  for (const [type, status] of Object.entries(errorStatuses) as [ErrorType, number][]) {
    const error = await refused(status, { type, message: 'why' });
    expect([error.type, error.status, error.requestID]).toEqual([type, status, 'req_1']);
    classes.push(`${status} ${error.constructor.name}`);
  }
  expect(classes).toEqual([
    '400 BadRequestError',
    '401 AuthenticationError',
    '402 APIError',
    '403 PermissionDeniedError',
    '404 NotFoundError',
    '409 ConflictError',
    '413 ContentTooLargeError',
    '429 RateLimitError',
    '500 InternalServerError',
    '504 GatewayTimeoutError',
    '529 OverloadedError',
  ]);
});

it('[A2] the official SDK has a class of its own for each code, at its status', async () => {
  const classes: string[] = [];
  for (const [error_code, status] of Object.entries(detailStatuses)) {
    const error = await refused(status, { type: 'invalid_request_error', message: 'why', details: { error_code } });
    expect(error).toMatchObject({ status, errorCode: error_code, details: { error_code } });
    classes.push(error.constructor.name);
  }
  expect(classes).toEqual([
    'BetaEnvironmentArchivedError',
    'BetaInvalidConfigTypeChangeError',
    'BetaInvalidMetadataError',
    'BetaEnvironmentNotFoundError',
    'BetaHeartbeatPreconditionFailedError',
  ]);
});

it('[A55] no event name and no id prefix has two meanings', () => {
  expect(new Set(eventTypes).size).toBe(eventTypes.length);
  expect(new Set(Object.values(idPrefixes)).size).toBe(Object.keys(idPrefixes).length);
});

async function refused(status: number, error: ErrorBody['error']): Promise<APIError> {
  answer = { status, error };
  // What listens on a port has an address with a number.
  const { port } = server.address() as AddressInfo;
  const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: 'key', maxRetries: 0 });
  const thrown = await client.beta.environments.retrieve('env_1').catch((reason: unknown) => reason);
  if (thrown instanceof APIError) return thrown;
  throw new Error('the SDK did not refuse', { cause: thrown });
}
