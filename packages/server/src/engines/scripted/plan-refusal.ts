import { errorTypeOf } from './failure.ts';
import type { Plan } from './plan.ts';

export interface RefusalInput {
  status: number;
  message: string;
  requestId: string;
  errorType?: string;
  retryAfterS?: number | undefined;
}

/** An answer that is nothing but an error. */
export function planRefusal(input: RefusalInput, afterMs = 0): Plan {
  const { status, message, requestId, errorType = errorTypeOf(status), retryAfterS } = input;
  const failure = { type: 'refused' as const, status, errorType, message, requestId, retryAfterS };
  return { requestId, stream: false, items: [{ type: 'failure', afterMs, failure }] };
}
