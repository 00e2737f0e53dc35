import type { Failure } from '../failure.ts';
import type { MessagesEvent, PingEvent } from '../wire.ts';

/** An answer as data: what happens, and how long after what came before. Playing it is all that takes time. */
export interface Plan {
  readonly requestId: string;
  /** Whether the events were asked for, or the message that they fold to. */
  readonly stream: boolean;
  /** Tools of the request that take a text instead of JSON, which only the Responses API has. */
  readonly freeformTools: ReadonlySet<string>;
  readonly items: readonly PlanItem[];
}

/** After a failure nothing follows. A refusal behind events is an event of the stream, or the status of an answer without one. */
export type PlanItem =
  | { readonly type: 'event'; readonly afterMs: number; readonly event: MessagesEvent | PingEvent }
  | { readonly type: 'failure'; readonly afterMs: number; readonly failure: Failure };
