import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import { expect, it } from 'vitest';
import { FleetloomError } from '../../../base/errors.ts';
import { baseLimits } from '../../../base/limits.ts';
import { modelLimits } from '../limits.ts';
import { classifyError, readRetryAfter } from './classify-error.ts';

const KEY = 'sk-ant-api03-very-secret';
const now = () => Date.UTC(2026, 0, 1);
const context = { endpoint: 'https://api.example', secrets: [KEY, 'tok+en'], now };

it('[N25] an error of the API keeps its own message, with its status once', () => {
  const error = fromApi(400, { error: { type: 'invalid_request_error', message: 'max_tokens: too large' } });
  expect(classifyError(error, context)).toEqual({
    reason: 'request_failed',
    message: '400 max_tokens: too large',
    consequence: 'turn',
    retryAfterMs: null,
  });
  expect(classifyError(APIError.generate(503, undefined, 'down for lunch', new Headers()), context).message).toBe(
    '503 down for lunch',
  );
});

it('[R380] of an error response at most 1,000 characters are repeated, without the key, also where it is cut', () => {
  const { errorMessageCharsMax } = baseLimits;
  const around = 'x'.repeat(errorMessageCharsMax - 12);
  for (const message of [`${around}${KEY}`, `${KEY}${around}`, 'y'.repeat(60_000)]) {
    for (const error of [
      fromApi(500, { error: { type: 'api_error', message } }),
      APIError.generate(500, undefined, message, new Headers()),
    ]) {
      const failure = classifyError(error, context);
      expect(failure.message.length).toBeLessThanOrEqual(errorMessageCharsMax);
      expect(failure.message).not.toContain('sk-a');
    }
  }
  expect(errorMessageCharsMax).toBe(1_000);
});

it.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0.25' }, 250],
  [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1_500],
  [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
  [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  [{ 'retry-after': String(modelLimits.engineRetryAfterMsMax / 1_000) }, modelLimits.engineRetryAfterMsMax],
  [{ 'retry-after': String(modelLimits.engineRetryAfterMsMax / 1_000 + 1) }, modelLimits.engineRetryAfterMsMax],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-5' }, null],
  [{}, null],
])('[N25] the delay is read from every known header: %j', (headers, ms) => {
  expect(readRetryAfter(new Headers(headers), now)).toBe(ms);
});

it('[N25] the endpoint decides whether it makes sense to try again', () => {
  const error = fromApi(429, { error: { type: 'rate_limit_error', message: 'no' } }, { 'x-should-retry': 'false' });
  expect(classifyError(error, context)).toMatchObject({ reason: 'rate_limited', consequence: 'turn' });
});

it('[N25] an empty account is known by its code', () => {
  const details = { error_code: 'enforced_spend_limit_reached' };
  const error = fromApi(400, { error: { type: 'invalid_request_error', message: 'no', details } });
  expect(classifyError(error, context).reason).toBe('billing');
});

it('[N25] an error below HTTP is a lost connection, with its innermost cause as the message', () => {
  const inner = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });
  const error = new APIConnectionError({ cause: new TypeError('fetch failed', { cause: inner }) });
  expect(classifyError(error, context)).toEqual({
    reason: 'connection_lost',
    message: 'the connection to https://api.example failed: ECONNREFUSED connect failed',
    consequence: 'retry',
    retryAfterMs: null,
  });
  expect(classifyError(new APIConnectionTimeoutError(), context).reason).toBe('connection_lost');
  expect(classifyError(new TypeError('terminated', { cause: inner }), context).reason).toBe('connection_lost');
  const circle = new Error('round');
  circle.cause = circle;
  expect(classifyError(new APIConnectionError({ cause: circle }), context).reason).toBe('connection_lost');
});

it('[N25] a full queue is a reason to wait, a mistake of ours is not', () => {
  const busy = new FleetloomError({ code: 'endpoint_busy', kind: 'retryable', problem: 'full', advice: 'wait' });
  expect(classifyError(busy, context)).toMatchObject({ reason: 'overloaded', consequence: 'retry' });
  expect(classifyError(new RangeError('oops'), context)).toMatchObject({
    reason: 'unknown',
    consequence: 'turn',
    message: 'oops',
  });
  expect(classifyError('oops', context)).toMatchObject({ reason: 'unknown', message: 'oops' });
});

it('[N26] no message holds a key', () => {
  const quoting = fromApi(401, {
    error: { type: 'authentication_error', message: `bad key ${KEY}, tok+en, sk-ant-other-1` },
  });
  expect(classifyError(quoting, context).message).toBe('401 bad key [secret], [secret], [secret]');
  const header = new TypeError(`Headers.append: "${KEY}" is an invalid header value.`);
  expect(classifyError(header, context).message).not.toContain('secret-');
  expect(classifyError(header, context).message).not.toContain(KEY);
});

function fromApi(status: number, body: object, headers: Record<string, string> = {}): APIError {
  return APIError.generate(status, body, undefined, new Headers(headers));
}
