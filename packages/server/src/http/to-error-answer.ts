import type { ErrorBody, ErrorType } from '@fleetloom/protocol/managed-agents';
import { type ErrorKind, FleetloomError } from '../base/errors.ts';
import type { Answer } from './answer.ts';
import { DoorError } from './door-error.ts';
import { toResourceError } from './resource-error.ts';

/**
 * What an error is on the wire. Only what the caller can do something about is told; of everything else the log has the
 * words and the caller the id to find them by.
 */
export function toErrorAnswer(thrown: unknown, requestId: string): ErrorAnswer {
  const isExplained = thrown instanceof FleetloomError && thrown.code !== 'store_failed';
  const error = isExplained ? thrown : (toResourceError(thrown) ?? thrown);
  const { status, isTold } = toMeaning(error);
  const known = isTold && error instanceof FleetloomError ? error : undefined;
  const message = known?.message ?? `something went wrong in the server; its log says what, under ${requestId}`;
  const details = known === undefined ? undefined : { ...detailsOf(known), error_code: known.code };
  const type = typeOfStatus[status];
  const body: ErrorBody = {
    type: 'error',
    error: { type, message, ...(details === undefined ? {} : { details }) },
    request_id: requestId,
  };
  return { status, headers: toHeaders(status, error), body };
}

export type ErrorAnswer = Answer & { readonly status: ErrorStatus; readonly body: ErrorBody };

interface Meaning {
  readonly status: ErrorStatus;
  /** Whether the caller may read the message: not what speaks of our files and processes. */
  readonly isTold: boolean;
}

/** The only place that knows which status an error has: by its code, else by whose turn it is. */
function toMeaning(error: unknown): Meaning {
  if (!(error instanceof FleetloomError)) return { status: 500, isTold: false };
  const status = statusOfCode.get(error.code);
  return status === undefined ? meaningOfKind[error.kind] : { status, isTold: true };
}

const meaningOfKind: Record<ErrorKind, Meaning> = {
  caller: { status: 400, isTold: true },
  retryable: { status: 500, isTold: false },
  terminal: { status: 500, isTold: false },
};

/** Codes whose status does not follow from their kind. Whoever adds a code elsewhere adds it here if that is so. */
const codes: Readonly<Record<string, ErrorStatus>> = {
  // of the door
  missing_key: 401,
  wrong_key: 401,
  credential_ended: 401,
  key_not_allowed: 403,
  wrong_host: 403,
  wrong_origin: 403,
  programs_not_allowed: 403,
  unknown_path: 404,
  unknown_id: 404,
  request_timeout: 408,
  body_too_large: 413,
  unsupported_encoding: 415,
  headers_too_large: 431,
  rate_limited: 429,
  too_many_requests: 429,
  too_many_streams: 429,
  out_of_resources: 529,
  storage_full: 507,
  shutting_down: 503,
  still_under_way: 503,
  // of stores and services
  not_found: 404,
  agent_not_found: 404,
  environment_not_found: 404,
  session_not_found: 404,
  thread_not_found: 404,
  work_not_found: 404,
  already_exists: 409,
  version_conflict: 409,
  key_taken: 409,
  answer_sealed: 409,
  answer_too_large: 409,
  session_archived: 409,
  session_terminated: 409,
  session_read_only: 409,
  thread_ended: 409,
  not_forkable: 409,
  thread_not_steerable: 409,
  session_elsewhere: 503,
  work_not_queued: 409,
  work_stopped: 409,
  heartbeat_precondition_failed: 412,
  too_many_inputs: 429,
  log_full: 529,
  overloaded: 529,
  timeout: 504,
};
const statusOfCode: ReadonlyMap<string, ErrorStatus> = new Map(Object.entries(codes));

const typeOfStatus = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  412: 'invalid_request_error',
  413: 'request_too_large',
  415: 'invalid_request_error',
  429: 'rate_limit_error',
  431: 'invalid_request_error',
  500: 'api_error',
  503: 'api_error',
  504: 'timeout_error',
  507: 'api_error',
  529: 'overloaded_error',
} as const satisfies Record<number, ErrorType>;

export type ErrorStatus = keyof typeof typeOfStatus;

/** When nothing better is known. */
const RETRY_AFTER_SECONDS = 1;

function toHeaders(status: ErrorStatus, error: unknown): Record<string, string> {
  // Clients repeat every 409, and none of ours is about a lock that would be free in a second.
  if (status === 409) return { 'x-should-retry': 'false' };
  if (status !== 429 && status !== 503 && status !== 529) return {};
  const seconds = error instanceof DoorError ? error.retryAfterSeconds : undefined;
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds ?? RETRY_AFTER_SECONDS))) };
}

function detailsOf(error: FleetloomError): object {
  return error instanceof DoorError ? (error.details ?? {}) : {};
}
