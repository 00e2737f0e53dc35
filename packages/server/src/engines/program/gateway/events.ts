import type { Usage } from '../../model/engine.ts';

/** An event of a model response to an agent of the program, as it passes the gateway. The program's request headers identify the agent. */
export interface GatewayEvent {
  /** The program's own session, which `/clear` changes; null where the program does not say. */
  readonly sessionId: string | null;
  /** The task of a sub-agent, null for the main agent. */
  readonly agentId: string | null;
  /** The sub-agent that started it, if it was not the main agent. */
  readonly parentAgentId: string | null;
  /** Ours, one for each request. A request that the program repeats is another one. */
  readonly requestId: string;
  /** The message that the program's lines name too. Null until the answer has begun. */
  readonly messageId: string | null;
  readonly model: string | null;
  readonly event: AnswerEvent;
}

/**
 * In this order: `requested`, then `begun`, blocks that do not overlap, `usage`, and at the end exactly one `finished` or
 * `failed`. `index` is that of the API. An answer that was not streamed has no blocks here: the lines contain all of it.
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
  /** Text or thought grows; of a call, its input as JSON. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  | { readonly type: 'block_stopped'; readonly index: number }
  /** The usage of the response so far, and the stop reason. */
  | { readonly type: 'usage'; readonly usage: Usage; readonly stopReason: string | null }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly failure: AnswerFailure };

/** Why an answer failed. */
export interface AnswerFailure {
  /**
   * `refused`: the endpoint said no. `broken`: the answer broke off, or says that it failed. `aborted`: the program hung
   * up, or its session was closed. `unreadable`: it went through, but could not be read on the way.
   */
  readonly reason: 'refused' | 'broken' | 'aborted' | 'unreadable';
  /** The status of an error response. */
  readonly status: number | null;
  /** For people, without secrets. */
  readonly message: string;
}
