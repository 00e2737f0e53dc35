import { cutText } from '@fleetloom/protocol/fleet';
import { baseLimits } from '../../base/limits.ts';
import type { EngineFailure, FailureReason } from './engine.ts';

/** An error of the endpoint, from a status, an event of the stream, or a script. */
export interface EndpointError {
  /** The HTTP status; undefined for an error in the middle of a stream. */
  readonly status: number | undefined;
  /** The API's name of the error, for example `overloaded_error`. */
  readonly errorType: string | undefined;
  /** The API's name of the cause, if it has one, for example `enforced_spend_limit_reached`. */
  readonly errorCode?: string | undefined;
  readonly message: string;
  readonly retryAfterMs: number | null;
  /** Whether a retry makes sense, if the endpoint says so. */
  readonly shouldRetry?: boolean | undefined;
}

/** The consequence of an error for the turn. This table is the only place that decides it. */
export function classifyEndpointError(error: EndpointError): EngineFailure {
  const { status, message, retryAfterMs, shouldRetry } = error;
  const [reason, consequence] = findRow(error);
  const isHopeless = shouldRetry === false && consequence === 'retry';
  return {
    reason,
    message: cutMessage(status === undefined ? message : `${status} ${message}`),
    consequence: isHopeless ? 'turn' : consequence,
    retryAfterMs,
  };
}

/** The signal was aborted, or the reader stopped reading. */
export function interrupted(): EngineFailure {
  return { reason: 'interrupted', message: 'the request was interrupted', consequence: 'turn', retryAfterMs: null };
}

/** The response stopped early, came too late, or is not a response of the API. */
export function connectionLost(message: string): EngineFailure {
  return { reason: 'connection_lost', message: cutMessage(message), consequence: 'retry', retryAfterMs: null };
}

/** A response that breaks the rules of the Messages API. A retry may succeed. */
export function brokenAnswer(message: string): EngineFailure {
  return { reason: 'request_failed', message: cutMessage(message), consequence: 'retry', retryAfterMs: null };
}

/** A defect of this server: a retry would not help. */
export function unexpectedFailure(error: unknown): EngineFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'unknown', message: cutMessage(message), consequence: 'turn', retryAfterMs: null };
}

type Row = readonly [reason: FailureReason, consequence: EngineFailure['consequence']];

function findRow({ status = 0, errorType = '', errorCode = '', message }: EndpointError): Row {
  // The text takes precedence over the status: a full context window and an empty account are both a plain 400.
  if (BILLING_CODES.has(errorCode) || BILLING_WORDS.test(message)) return ['billing', 'turn'];
  if (status < 500 && WINDOW_WORDS.test(message)) return ['context_exceeded', 'turn'];
  return byStatus.get(status) ?? byType.get(errorType) ?? otherwise(status);
}

const BILLING_CODES = new Set(['enforced_spend_limit_reached', 'organization_on_hold']);
const BILLING_WORDS = /credit balance is too low/i;
const WINDOW_WORDS =
  /prompt is too long|exceed(s|ed)? (the )?(model's )?(context|maximum context)|context (window|length|limit)/i;

const byStatus: ReadonlyMap<number, Row> = new Map<number, Row>([
  [401, ['authentication', 'turn']],
  [402, ['billing', 'turn']],
  [403, ['authentication', 'turn']],
  [408, ['request_failed', 'retry']],
  [409, ['request_failed', 'retry']],
  // A body with too many bytes has too many tokens: a shorter history helps with both.
  [413, ['context_exceeded', 'turn']],
  [425, ['request_failed', 'retry']],
  [429, ['rate_limited', 'retry']],
  // A proxy between this server and the model closed the connection.
  [499, ['connection_lost', 'retry']],
  [529, ['overloaded', 'retry']],
]);

/** Errors in an event have no status, because the response had begun. */
const byType: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['authentication_error', ['authentication', 'turn']],
  ['permission_error', ['authentication', 'turn']],
  ['billing_error', ['billing', 'turn']],
  ['request_too_large', ['context_exceeded', 'turn']],
  ['invalid_request_error', ['request_failed', 'turn']],
  ['not_found_error', ['request_failed', 'turn']],
  ['rate_limit_error', ['rate_limited', 'retry']],
  ['overloaded_error', ['overloaded', 'retry']],
  ['timeout_error', ['request_failed', 'retry']],
  ['conflict_error', ['request_failed', 'retry']],
  ['api_error', ['request_failed', 'retry']],
]);

function otherwise(status: number): Row {
  return ['request_failed', status >= 400 && status < 500 ? 'turn' : 'retry'];
}

function cutMessage(message: string): string {
  const { errorMessageCharsMax } = baseLimits;
  return message.length <= errorMessageCharsMax ? message : `${cutText(message, errorMessageCharsMax - 1)}…`;
}
