import type { ErrorKind, FleetloomError } from './errors.ts';
import { RequestError } from './request-error.ts';

/** An error as it is sent to another node. */
export interface ErrorData {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** An error as data. */
export function fromError(error: FleetloomError): ErrorData {
  const { code, kind, message } = error;
  return { code, kind, message, ...(error instanceof RequestError && { details: error.details }) };
}

/** Restores an error with its original message. */
export function toError({ code, kind, message, details = {} }: ErrorData): RequestError {
  const error = new RequestError({ code, kind, problem: message, advice: '', details });
  // The message already contains the advice.
  error.message = message;
  return error;
}
