import { errorTypeOf, type Refusal } from '../failure.ts';
import type { Plan } from './plan.ts';

/** The input of a planned error response. */
export interface RefusalInput {
  status: number;
  message: string;
  requestId: string;
  errorType?: string;
  retryAfterS?: number | undefined;
  param?: string | undefined;
}

/** The plan of an error response. */
export function planRefusal(input: RefusalInput, afterMs = 0): Plan {
  const items = [{ type: 'failure' as const, afterMs, failure: toRefusal(input) }];
  return { requestId: input.requestId, stream: false, freeformTools: new Set(), items };
}

/** The error of the response. */
export function toRefusal(input: RefusalInput): Refusal {
  const { status, message, requestId, errorType = errorTypeOf(status), retryAfterS, param } = input;
  return { type: 'refused', status, errorType, message, requestId, retryAfterS, param };
}
