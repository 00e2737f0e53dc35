import type { Failure } from '../failure.ts';
import type { MessagesEvent, PingEvent } from '../wire.ts';

/** A response as data: its events, and the waits between them. Only playing it takes time. */
export interface Plan {
  readonly requestId: string;
  /** Whether the client requested the events, or else the folded message. */
  readonly stream: boolean;
  /** Tools of the request that take a text instead of JSON, which only the Responses API has. */
  readonly freeformTools: ReadonlySet<string>;
  readonly items: readonly PlanItem[];
}

/** An item of a plan; a failure is the last one. An error after events is an event of the stream, or the status without a stream. */
export type PlanItem =
  | { readonly type: 'event'; readonly afterMs: number; readonly event: MessagesEvent | PingEvent }
  | { readonly type: 'failure'; readonly afterMs: number; readonly failure: Failure };
