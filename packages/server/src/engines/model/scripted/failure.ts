import type { ErrorBody } from './wire.ts';

/** An error response, as the API would send it. */
export interface Refusal {
  readonly type: 'refused';
  readonly status: number;
  readonly errorType: string;
  readonly message: string;
  readonly requestId: string;
  readonly retryAfterS: number | undefined;
  /** The invalid field of the request, if there is one. */
  readonly param?: string | undefined;
}

/** How a response can end early: with an error, by a script also after some events, or cut off. */
export type Failure = Refusal | { readonly type: 'cut' };

/**
 * The error that a reader of a scripted response receives, where the official SDK would throw its APIError or a broken
 * connection.
 *
 * @example
 * if (error instanceof ScriptedModelError && error.failure.type === 'refused') retryAfter(error.failure.retryAfterS);
 */
export class ScriptedModelError extends Error {
  override readonly name = 'ScriptedModelError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.type === 'cut' ? 'the script cut the connection' : `${failure.status} ${failure.message}`);
    this.failure = failure;
  }
}

/** Whether the error is an error response of the model. */
export function isRefusal(error: unknown): error is ScriptedModelError & { readonly failure: Refusal } {
  return error instanceof ScriptedModelError && error.failure.type === 'refused';
}

/** The error type of the API for this status. */
export function errorTypeOf(status: number): string {
  return errorTypes[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

/** The body of an error response of the Messages API. */
export function toErrorBody({ errorType, message, requestId }: Refusal): ErrorBody {
  return { type: 'error', error: { type: errorType, message }, request_id: requestId };
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};
