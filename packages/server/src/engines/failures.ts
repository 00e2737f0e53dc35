import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../base/limits.ts';
import type { EngineFailure, FailureReason } from './engine.ts';

/** What the other side said when it did not answer, whatever way it came: a status, an event, a script. */
export interface Complaint {
  /** None in the middle of a stream. */
  readonly status: number | undefined;
  /** The API's name for it, `overloaded_error`. */
  readonly errorType: string | undefined;
  /** The API's name for its cause, where it has one: `enforced_spend_limit_reached`. */
  readonly errorCode?: string | undefined;
  readonly message: string;
  readonly retryAfterMs: number | null;
  /** Some endpoints say whether it makes sense to try again. */
  readonly shouldRetry?: boolean | undefined;
}

/** What a complaint means for the turn. This table is the only place that decides it. */
export function classifyComplaint(complaint: Complaint): EngineFailure {
  const { status, message, retryAfterMs, shouldRetry } = complaint;
  const [reason, consequence] = findRow(complaint);
  const isHopeless = shouldRetry === false && consequence === 'retry';
  return {
    reason,
    message: cutMessage(status === undefined ? message : `${status} ${message}`),
    consequence: isHopeless ? 'turn' : consequence,
    retryAfterMs,
  };
}

/** The signal came, or nobody listens any more. */
export function interrupted(): EngineFailure {
  return { reason: 'interrupted', message: 'the request was interrupted', consequence: 'turn', retryAfterMs: null };
}

/** Nothing more came, or it came too late, or it was no answer. */
export function connectionLost(message: string): EngineFailure {
  return { reason: 'connection_lost', message: cutMessage(message), consequence: 'retry', retryAfterMs: null };
}

/** An answer that breaks the rules of the Messages API. The next one may keep them. */
export function brokenAnswer(message: string): EngineFailure {
  return { reason: 'request_failed', message: cutMessage(message), consequence: 'retry', retryAfterMs: null };
}

/** A mistake of ours: repeating it would not help. */
export function mishap(error: unknown): EngineFailure {
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'unknown', message: cutMessage(message), consequence: 'turn', retryAfterMs: null };
}

type Row = readonly [reason: FailureReason, consequence: EngineFailure['consequence']];

function findRow({ status = 0, errorType = '', errorCode = '', message }: Complaint): Row {
  // What the words say goes before the status: a full window and an empty account are both a plain 400.
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
  // Too many bytes are too many tokens: a shorter history helps with both.
  [413, ['context_exceeded', 'turn']],
  [425, ['request_failed', 'retry']],
  [429, ['rate_limited', 'retry']],
  // Somebody between us and the model hung up.
  [499, ['connection_lost', 'retry']],
  [529, ['overloaded', 'retry']],
]);

/** For errors that come as an event: the answer had begun, so that there is no status. */
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
  const { errorMessageCharsMax } = limits;
  return message.length <= errorMessageCharsMax ? message : `${cutText(message, errorMessageCharsMax - 1)}…`;
}
