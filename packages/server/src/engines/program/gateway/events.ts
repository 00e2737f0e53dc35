import type { Usage } from '../../model/engine.ts';

/** An event of a model response to an agent of the program, as it passes the gateway. The program's request headers identify the agent. */
export interface GatewayEvent {
  /** The id of the program's own session, which `/clear` changes; null if the program does not send it. */
  readonly sessionId: string | null;
  /** The task id of a sub-agent; null for the main agent. */
  readonly agentId: string | null;
  /** The task id of the sub-agent that started this agent; null if the main agent did. */
  readonly parentAgentId: string | null;
  /** The gateway's id of the request. A retry of the program has an id of its own. */
  readonly requestId: string;
  /** The id of the message, which the program's lines have too. Null until the response has begun. */
  readonly messageId: string | null;
  readonly model: string | null;
  readonly event: AnswerEvent;
}

/**
 * The events of one response, in this order: `requested`, then `begun`, blocks that do not overlap, `usage`, and at the end exactly one `finished` or
 * `failed`. `index` is the index in the API. A response that was not streamed has no blocks here: the lines contain its content.
 */
export type AnswerEvent =
  | { readonly type: 'requested' }
  | { readonly type: 'begun'; readonly usage: Usage }
  | {
      readonly type: 'block_started';
      readonly index: number;
      readonly block: 'text' | 'thinking' | 'tool_use' | 'other';
      /** For a tool call: its id, which lines and permission requests use, and its tool. */
      readonly call: { readonly id: string; readonly name: string } | null;
    }
  /** A delta of a text or thinking block, or of a call's input as JSON. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  | { readonly type: 'block_stopped'; readonly index: number }
  /** The usage of the response so far, and the stop reason. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly stopReason: string | null }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly failure: AnswerFailure };

/** Why a response failed. */
export interface AnswerFailure {
  /**
   * `refused`: the endpoint returned an error status. `broken`: the response broke off, or contains an error. `aborted`: the program closed
   * the connection, or its session was closed. `unreadable`: the response was forwarded, but the gateway could not read it.
   */
  readonly reason: 'refused' | 'broken' | 'aborted' | 'unreadable';
  /** The status of an error response. */
  readonly status: number | null;
  /** A message for people, without secrets. */
  readonly message: string;
}
