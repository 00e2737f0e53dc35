import type { WorkLeaseState } from './work.ts';

/** The types of errors with the HTTP status of each. */
export const errorStatuses = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
} as const;
/** The type of an error. */
export type ErrorType = keyof typeof errorStatuses;

/** The body of every error response. */
export interface ErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: ErrorType;
    readonly message: string;
    readonly details?: ErrorDetails;
  };
  /** The id of the request, as in the header `request-id`. */
  readonly request_id: string | null;
}

/**
 * More about an error, for programs. The official SDK has a class for each code of `detailStatuses`, and passes other
 * codes on.
 */
export type ErrorDetails =
  | { readonly error_code: 'heartbeat_precondition_failed'; readonly current_state: WorkLeaseState }
  | { readonly error_code: string };

/** The HTTP status that the official SDK expects for each code. The heartbeat's has no error type of its own. */
export const detailStatuses = {
  environment_archived: 400,
  invalid_config_type_change: 400,
  invalid_metadata: 400,
  environment_not_found: 404,
  heartbeat_precondition_failed: 412,
} as const;
