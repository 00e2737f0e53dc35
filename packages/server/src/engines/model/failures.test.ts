import { expect, it } from 'vitest';
import { baseLimits } from '../../base/limits.ts';
import { classifyEndpointError } from './failures.ts';

const plain = { status: undefined, errorType: undefined, message: 'Oh', retryAfterMs: null };

it.each([
  ['overloaded_error', 'overloaded', 'retry'],
  ['rate_limit_error', 'rate_limited', 'retry'],
  ['api_error', 'request_failed', 'retry'],
  ['timeout_error', 'request_failed', 'retry'],
  ['invalid_request_error', 'request_failed', 'turn'],
  ['authentication_error', 'authentication', 'turn'],
  ['permission_error', 'authentication', 'turn'],
  ['billing_error', 'billing', 'turn'],
  ['not_found_error', 'request_failed', 'turn'],
  ['request_too_large', 'context_exceeded', 'turn'],
  ['brand_new_error', 'request_failed', 'retry'],
])('[N16] an error without a status is known by its type: %s', (errorType, reason, consequence) => {
  expect(classifyEndpointError({ ...plain, errorType })).toEqual({
    reason,
    consequence,
    message: 'Oh',
    retryAfterMs: null,
  });
});

it.each([
  [500, 'request_failed', 'retry'],
  [502, 'request_failed', 'retry'],
  [504, 'request_failed', 'retry'],
  [599, 'request_failed', 'retry'],
  [499, 'connection_lost', 'retry'],
  [425, 'request_failed', 'retry'],
  [418, 'request_failed', 'turn'],
  [451, 'request_failed', 'turn'],
])('[N16] every status means something: %i', (status, reason, consequence) => {
  expect(classifyEndpointError({ ...plain, status })).toMatchObject({ reason, consequence, message: `${status} Oh` });
});

it.each([
  'prompt is too long: 203456 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
  "This model's maximum context length is 32768 tokens",
  'the request exceeds the context window',
])('[N16] a full window is known by its words: %s', (message) => {
  expect(classifyEndpointError({ ...plain, status: 400, message })).toMatchObject({
    reason: 'context_exceeded',
    consequence: 'turn',
  });
});

it('[N16] a server error that mentions the window is not reported as a full window', () => {
  const message = 'lost the context window, try again';
  expect(classifyEndpointError({ ...plain, status: 500, message })).toMatchObject({
    reason: 'request_failed',
    consequence: 'retry',
  });
});

it('[N16] a billing error is not retried', () => {
  const limit = { ...plain, status: 429, errorCode: 'enforced_spend_limit_reached' };
  expect(classifyEndpointError(limit)).toMatchObject({ reason: 'billing', consequence: 'turn' });
});

it('[N16] an endpoint may mark an error as not retryable', () => {
  expect(classifyEndpointError({ ...plain, status: 429, shouldRetry: false }).consequence).toBe('turn');
  expect(classifyEndpointError({ ...plain, status: 429, shouldRetry: true }).consequence).toBe('retry');
  expect(classifyEndpointError({ ...plain, status: 400, shouldRetry: true }).consequence).toBe('turn');
});

it('[N16] a message is as long as other errors may be, not longer', () => {
  const { errorMessageCharsMax: max } = baseLimits;
  expect(classifyEndpointError({ ...plain, message: 'x'.repeat(max) }).message).toBe('x'.repeat(max));
  expect(classifyEndpointError({ ...plain, message: 'x'.repeat(max + 1) }).message).toBe(`${'x'.repeat(max - 1)}…`);
});
