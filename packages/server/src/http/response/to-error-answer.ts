import type { ErrorBody, ErrorType } from '@fleetloom/protocol/managed-agents';
import { type ErrorKind, FleetloomError } from '../../base/errors.ts';
import type { Answer } from './answer.ts';
import { RequestError } from '../../base/request-error.ts';
import { toResourceError } from '../../base/resource-error.ts';

/**
 * The response to an error. The caller receives only messages it can act on; every other message is in the log, and the caller
 * receives the request id to find it by.
 */
export function toErrorAnswer(thrown: unknown, requestId: string): ErrorAnswer {
  const isExplained = thrown instanceof FleetloomError && !storeFailures.has(thrown.code);
  const error = isExplained ? thrown : (toResourceError(thrown) ?? thrown);
  const { status, isPublic } = toMeaning(error);
  const known = isPublic && error instanceof FleetloomError ? error : undefined;
  const message = known?.message ?? `internal error; the log of the server has the reason under ${requestId}`;
  const details = known === undefined ? undefined : { ...detailsOf(known), error_code: known.code };
  const type = typeOfStatus[status];
  const body: ErrorBody = {
    type: 'error',
    error: { type, message, ...(details === undefined ? {} : { details }) },
    request_id: requestId,
  };
  return { status, headers: toHeaders(status, error), body };
}

/** Codes of the store whose cause decides what the caller receives. */
const storeFailures: ReadonlySet<string> = new Set(['store_failed', 'write_skipped']);

/** A response in the error envelope. */
export type ErrorAnswer = Answer & { readonly status: ErrorStatus; readonly body: ErrorBody };

interface Meaning {
  readonly status: ErrorStatus;
  /** Whether the caller may read the message, which must then not name files or processes of the server. */
  readonly isPublic: boolean;
}

/** The only function that maps errors to a status: by their code, otherwise by their kind. */
function toMeaning(error: unknown): Meaning {
  if (!(error instanceof FleetloomError)) return { status: 500, isPublic: false };
  const status = statusOfCode.get(error.code);
  return status === undefined ? meaningOfKind[error.kind] : { status, isPublic: true };
}

const meaningOfKind: Record<ErrorKind, Meaning> = {
  caller: { status: 400, isPublic: true },
  retryable: { status: 500, isPublic: false },
  terminal: { status: 500, isPublic: false },
};

/** Codes whose status does not follow from their kind. A new code whose status differs from its kind is added here. */
const codes: Readonly<Record<string, ErrorStatus>> = {
  // Errors of the server.
  missing_key: 401,
  wrong_key: 401,
  credential_ended: 401,
  key_not_allowed: 403,
  scope_missing: 403,
  key_limited: 403,
  wrong_host: 403,
  wrong_origin: 403,
  programs_not_allowed: 403,
  directory_not_allowed: 403,
  directory_in_use: 409,
  not_recorded: 409,
  workspace_not_open: 409,
  path_not_found: 404,
  apply_conflict: 409,
  restore_conflict: 409,
  not_applicable: 409,
  push_not_accepted: 409,
  branch_checked_out: 409,
  branch_moved: 409,
  not_restored: 409,
  not_mergeable: 409,
  merge_conflict: 409,
  unknown_path: 404,
  unknown_id: 404,
  request_timeout: 408,
  body_too_large: 413,
  event_too_large: 413,
  session_too_large: 413,
  unsupported_encoding: 415,
  headers_too_large: 431,
  rate_limited: 429,
  too_many_requests: 429,
  too_many_streams: 429,
  out_of_resources: 529,
  storage_full: 507,
  database_unavailable: 503,
  shutting_down: 503,
  still_under_way: 503,
  // Errors of stores and services.
  not_found: 404,
  agent_not_found: 404,
  environment_not_found: 404,
  vault_not_found: 404,
  credential_not_found: 404,
  oauth_flow_not_found: 404,
  session_not_found: 404,
  thread_not_found: 404,
  work_not_found: 404,
  already_exists: 409,
  credential_key_taken: 409,
  version_conflict: 409,
  key_taken: 409,
  answer_sealed: 409,
  answer_too_large: 409,
  session_archived: 409,
  session_terminated: 409,
  session_read_only: 409,
  thread_ended: 409,
  not_forkable: 409,
  not_a_program: 409,
  program_not_running: 409,
  program_unsupported: 409,
  program_failed: 409,
  not_rewindable: 409,
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

/** A status that an error response can have. */
export type ErrorStatus = keyof typeof typeOfStatus;

/** The `retry-after` of errors without their own. */
const RETRY_AFTER_SECONDS = 1;

function toHeaders(status: ErrorStatus, error: unknown): Record<string, string> {
  // Clients retry every 409, and no 409 of this server would succeed a second later.
  if (status === 409) return { 'x-should-retry': 'false' };
  if (status !== 429 && status !== 503 && status !== 529) return {};
  const seconds = error instanceof RequestError ? error.retryAfterSeconds : undefined;
  return { 'retry-after': String(Math.max(1, Math.ceil(seconds ?? RETRY_AFTER_SECONDS))) };
}

function detailsOf(error: FleetloomError): object {
  return error instanceof RequestError ? (error.details ?? {}) : {};
}
