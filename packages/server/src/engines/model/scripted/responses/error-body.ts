import { errorTypeOf, type Refusal } from '../failure.ts';
import type { ResponsesErrorBody } from './wire.ts';

/** The body of an error response, as the Responses API has it. */
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

/** A type that the script sets is both, as most of the API's own are; otherwise the status decides. */
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
