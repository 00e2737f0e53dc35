import type { WorkLeaseState } from './work.ts';

/** The types of errors, with the status that each has. A client that knows only one of the two knows the other. */
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
export type ErrorType = keyof typeof errorStatuses;

/** The body of every answer that is an error. */
export interface ErrorBody {
  readonly type: 'error';
  readonly error: {
    readonly type: ErrorType;
    readonly message: string;
    readonly details?: ErrorDetails;
  };
  /** The same as the header `request-id`. */
  readonly request_id: string | null;
}

/**
 * More about an error, for programs. For the codes of `detailStatuses` the official SDK has classes of their own; other
 * codes it passes on.
 */
export type ErrorDetails =
  | { readonly error_code: 'heartbeat_precondition_failed'; readonly current_state: WorkLeaseState }
  | { readonly error_code: string };

/** The status with which the official SDK expects each code. The heartbeat's has no type of its own. */
export const detailStatuses = {
  environment_archived: 400,
  invalid_config_type_change: 400,
  invalid_metadata: 400,
  environment_not_found: 404,
  heartbeat_precondition_failed: 412,
} as const;
