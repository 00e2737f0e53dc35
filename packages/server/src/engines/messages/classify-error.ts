import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { FleetloomError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import type { EngineFailure } from '../engine.ts';
import { classifyComplaint, connectionLost, mishap } from '../failures.ts';
import { StreamError } from './stream-error.ts';

export interface ErrorContext {
  /** Where was asked, without credentials, for people. */
  readonly endpoint: string;
  /** What must not be told to anybody. */
  readonly secrets: readonly string[];
  /** For a `retry-after` that is a date. */
  readonly now: () => number;
}

/** What an error means that the SDK threw, or that reading its stream did. */
export function classifyError(error: unknown, context: ErrorContext): EngineFailure {
  const failure = classify(error, context);
  return { ...failure, message: hideSecrets(failure.message, context.secrets) };
}

function classify(error: unknown, { endpoint, now }: ErrorContext): EngineFailure {
  if (error instanceof StreamError) return error.failure;
  if (error instanceof FleetloomError) {
    return { reason: 'overloaded', message: error.message, consequence: 'retry', retryAfterMs: null };
  }
  if (error instanceof APIError && error.status !== undefined) return classifyComplaint(toComplaint(error, now));
  if (error instanceof APIConnectionError || isNetworkError(error)) {
    return connectionLost(`the connection to ${endpoint} failed: ${reasonOf(error)}`);
  }
  return mishap(error);
}

function toComplaint(error: APIError, now: () => number) {
  const shouldRetry = error.headers?.get('x-should-retry');
  return {
    status: error.status,
    errorType: error.type ?? undefined,
    errorCode: error.errorCode ?? undefined,
    message: error.apiMessage ?? textOf(error),
    retryAfterMs: readRetryAfter(error.headers, now),
    shouldRetry: shouldRetry === 'true' || shouldRetry === 'false' ? shouldRetry === 'true' : undefined,
  };
}

/** The SDK puts the status before what it found; it is said once. */
function textOf({ message, status }: APIError): string {
  return message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message;
}

/** How long to wait, in any of the ways to say it. */
export function readRetryAfter(headers: Headers | undefined, now: () => number): number | null {
  const exact = readNumber(headers?.get('retry-after-ms'));
  if (exact !== null) return bound(exact);
  const text = headers?.get('retry-after') ?? null;
  const seconds = readNumber(text);
  if (seconds !== null) return bound(seconds * 1_000);
  // Date.parse would take -5 for a year.
  const date = text !== null && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : bound(date - now());
}

function readNumber(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bound(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), limits.engineRetryAfterMsMax);
}

/** `fetch` throws a TypeError for whatever happens below HTTP, also in the middle of a body. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && 'code' in error);
}

/** The innermost cause knows best: `fetch failed` says nothing, `ECONNREFUSED` everything. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < CAUSES_MAX && inner instanceof Error && inner.cause instanceof Error; depth++) {
    inner = inner.cause;
  }
  if (!(inner instanceof Error)) return String(inner);
  const code = 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined;
  return code === undefined || inner.message.includes(code) ? inner.message : `${code} ${inner.message}`.trim();
}

const CAUSES_MAX = 8;

/** Node quotes headers and addresses that it refuses, and some proxies what they were sent. */
function hideSecrets(message: string, secrets: readonly string[]): string {
  let hidden = message;
  for (const secret of secrets) {
    if (secret !== '') hidden = hidden.replaceAll(secret, '[secret]');
  }
  return hidden.replaceAll(/\bsk-ant-[\w-]+/g, '[secret]').replaceAll(/\/\/[^\s/@]+@/g, '//[secret]@');
}
