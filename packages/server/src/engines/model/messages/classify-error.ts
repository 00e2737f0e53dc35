import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import { FleetloomError } from '../../../base/errors.ts';
import { modelLimits } from '../limits.ts';
import type { EngineFailure } from '../engine.ts';
import { classifyEndpointError, connectionLost, unexpectedFailure } from '../failures.ts';
import { StreamError } from './stream-error.ts';

/** The context in which an error is classified. */
export interface ErrorContext {
  /** The URL of the endpoint, without credentials, for messages. */
  readonly endpoint: string;
  /** Texts that are removed from every message. */
  readonly secrets: readonly string[];
  /** The current time, for a `retry-after` that is a date. */
  readonly now: () => number;
}

/** Converts an error of the SDK, or of reading its stream, to a failure. */
export function classifyError(error: unknown, context: ErrorContext): EngineFailure {
  const failure = classify(error, context);
  return { ...failure, message: hideSecrets(failure.message, context.secrets) };
}

function classify(error: unknown, context: ErrorContext): EngineFailure {
  const { endpoint } = context;
  if (error instanceof StreamError) return error.failure;
  if (error instanceof FleetloomError) {
    return { reason: 'overloaded', message: error.message, consequence: 'retry', retryAfterMs: null };
  }
  if (error instanceof APIError && error.status !== undefined)
    return classifyEndpointError(toEndpointError(error, context));
  if (error instanceof APIConnectionError || isNetworkError(error)) {
    return connectionLost(`the connection to ${endpoint} failed: ${reasonOf(error)}`);
  }
  return unexpectedFailure(error);
}

function toEndpointError(error: APIError, { now, secrets }: ErrorContext) {
  const shouldRetry = error.headers?.get('x-should-retry');
  return {
    status: error.status,
    errorType: error.type ?? undefined,
    errorCode: error.errorCode ?? undefined,
    // Secrets are removed before the message is cut: a part of a secret would not be recognised.
    message: hideSecrets(error.apiMessage ?? textOf(error), secrets),
    retryAfterMs: readRetryAfter(error.headers, now),
    shouldRetry: shouldRetry === 'true' || shouldRetry === 'false' ? shouldRetry === 'true' : undefined,
  };
}

/** The message of an error, without the status that the SDK puts in front of it. */
function textOf({ message, status }: APIError): string {
  return message.startsWith(`${status} `) ? message.slice(`${status} `.length) : message;
}

/** How long to wait, in any of the formats of `retry-after`. */
export function readRetryAfter(headers: Headers | undefined, now: () => number): number | null {
  const exact = readNumber(headers?.get('retry-after-ms'));
  if (exact !== null) return bound(exact);
  const text = headers?.get('retry-after') ?? null;
  const seconds = readNumber(text);
  if (seconds !== null) return bound(seconds * 1_000);
  // Date.parse would parse -5 as a year.
  const date = text !== null && /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : bound(date - now());
}

function readNumber(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

function bound(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), modelLimits.engineRetryAfterMsMax);
}

/** Whether the error is a network error: `fetch` throws a TypeError for it, also in the middle of a body. */
function isNetworkError(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && 'code' in error);
}

/** The message of the innermost cause, which is the most specific: `ECONNREFUSED` instead of `fetch failed`. */
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

/** Removes secrets from a message: Node quotes headers and addresses that it rejects, and some proxies quote the request. */
function hideSecrets(message: string, secrets: readonly string[]): string {
  let hidden = message;
  for (const secret of secrets) {
    if (secret !== '') hidden = hidden.replaceAll(secret, '[secret]');
  }
  return hidden.replaceAll(/\bsk-ant-[\w-]+/g, '[secret]').replaceAll(/\/\/[^\s/@]+@/g, '//[secret]@');
}
