import type { AssistantBlock, Message } from '../base/content.ts';
import type { JsonObject } from '../base/json.ts';

/**
 * Who answers for a thread: it turns one model request into events. engine.suite.ts says in tests what every
 * implementation does. The loop around it (tools, approvals, delegation, retries) is the session's.
 */
export interface Engine {
  /**
   * One model request. The last event is `finished` or `failed`, there is exactly one of them, and nothing is ever
   * thrown. When the signal comes it ends at once, with the failure `interrupted`.
   */
  request(request: ModelRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Ends what is under way, as the signal does, and lets go of connections and processes. */
  close(): Promise<void>;
}

export interface ModelRequest {
  readonly model: ModelChoice;
  readonly system: string | null;
  /** Begins with what was said to the agent. Several entries of the same role may follow each other. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** Who asks, for logs and caches: two threads of the same agent are told apart by it. */
  readonly thread: { readonly id: string; readonly agentName: string };
  /** Told what was used up so far, each time that more is known: whoever stops the request pays for it all the same. */
  readonly onUsage?: (usage: Usage) => void;
  /** Told of each sign of life, by engines that have a connection. Called often, so it must be quick. */
  readonly onSign?: (sign: RequestSign) => void;
}

/** `queued`: it has to wait before it is sent. `open`: the answer begins. `byte`: more of it came, be it a ping. */
export type RequestSign = 'queued' | 'sent' | 'open' | 'byte';

export interface ModelChoice {
  readonly id: string;
  readonly effort: string | null;
  readonly speed: 'standard' | 'fast';
  /** Where it is to run, for those whose data may not go everywhere. */
  readonly inferenceGeo?: string | undefined;
}

/** A tool as the model is told of it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export type EngineEvent =
  /** The request has to wait before it is made; then comes `admitted`. Both come before anything of the answer. */
  | ({ readonly type: 'queued' } & QueueState)
  | { readonly type: 'admitted' }
  /** A block begins. `index` counts from 0 without gaps; blocks do not overlap. `other`: of a kind that we do not know. */
  | {
      readonly type: 'block_started';
      readonly index: number;
      readonly block: 'text' | 'thinking' | 'tool_use' | 'other';
    }
  /** Text or thought grows. Input of tools comes only as a whole. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /**
   * The whole answer. Its blocks are those that were begun; their text is what the deltas add up to. Only a last call
   * whose input was cut off, by `max_tokens` or the like, is missing: nobody may run half a call.
   */
  | {
      readonly type: 'finished';
      readonly content: readonly AssistantBlock[];
      readonly stop: Stop;
      readonly usage: Usage;
      /** What answered, if it says so: the full name of the model. */
      readonly model: string;
    }
  /** No answer. What was said before is void: the next request begins anew. Tokens may have been used all the same. */
  | { readonly type: 'failed'; readonly failure: EngineFailure; readonly usage: Usage | null };

/** Why a request waits: as many as may be are under way, or the endpoint has asked for a pause. */
export interface QueueState {
  readonly reason: 'concurrency' | 'paused';
  /** How many wait before it. */
  readonly ahead: number;
  /** How long the pause lasts; null where nobody knows. */
  readonly waitMs: number | null;
}

/** Why the model stopped. `tool_use` promises at least one call; the others may come with calls too. */
export interface Stop {
  readonly reason:
    | 'end_turn'
    | 'tool_use'
    | 'max_tokens'
    | 'stop_sequence'
    | 'pause_turn'
    | 'refusal'
    | 'context_window_exceeded';
  /** Of a refusal. */
  readonly category: string | null;
  readonly explanation: string | null;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Written to the cache, by how long it keeps them. */
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
}

export interface EngineFailure {
  readonly reason: FailureReason;
  /** For people: what went wrong, without secrets. */
  readonly message: string;
  /** `retry`: the same request may work later. `turn`: this turn is lost. `session`: no turn can ever work. */
  readonly consequence: 'retry' | 'turn' | 'session';
  /** When the other side says how long to wait. */
  readonly retryAfterMs: number | null;
}

export type FailureReason =
  | 'overloaded'
  | 'rate_limited'
  /** The answer was refused, or was none. */
  | 'request_failed'
  /** The connection broke, also in the middle of an answer that looked whole. */
  | 'connection_lost'
  | 'billing'
  | 'authentication'
  /** What was sent does not fit into the window of the model. */
  | 'context_exceeded'
  /** The signal came. */
  | 'interrupted'
  | 'unknown';
