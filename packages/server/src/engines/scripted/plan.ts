import type { Failure } from './failure.ts';
import type { MessagesEvent, PingEvent } from './wire.ts';

/** An answer as data: what happens, and how long after what came before. Playing it is all that takes time. */
export interface Plan {
  readonly requestId: string;
  /** Whether the events were asked for, or the message that they fold to. */
  readonly stream: boolean;
  readonly items: readonly PlanItem[];
}

/** After a failure nothing follows. A refusal stands alone: the status of an answer is said before its first event. */
export type PlanItem =
  | { readonly type: 'event'; readonly afterMs: number; readonly event: MessagesEvent | PingEvent }
  | { readonly type: 'failure'; readonly afterMs: number; readonly failure: Failure };
