import { errorTypeOf, type Refusal } from '../failure.ts';
import type { ResponsesErrorBody } from './wire.ts';

/** The body of an error response of the Responses API. */
export function toResponsesError(refusal: Refusal): ResponsesErrorBody {
  const { type, code } = toKind(refusal);
  return { error: { message: refusal.message, type, param: refusal.param ?? null, code } };
}

/** The code of an error that ends a stream. */
export function toErrorCode(refusal: Refusal): string {
  const { type, code } = toKind(refusal);
  return code ?? type;
}

interface ErrorKind {
  readonly type: string;
  readonly code: string | null;
}

/** The type and code of an error. A type in the script is used for both, like most errors of the API; otherwise the status decides. */
function toKind({ status, errorType }: Refusal): ErrorKind {
  if (errorType !== errorTypeOf(status)) return { type: errorType, code: errorType };
  return kinds[status] ?? (status < 500 ? INVALID : { type: 'server_error', code: null });
}

const INVALID: ErrorKind = { type: 'invalid_request_error', code: null };
const OVERLOADED: ErrorKind = { type: 'server_error', code: 'server_is_overloaded' };

const kinds: Readonly<Record<number, ErrorKind>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  429: { type: 'rate_limit_exceeded', code: 'rate_limit_exceeded' },
  503: OVERLOADED,
  529: OVERLOADED,
};
