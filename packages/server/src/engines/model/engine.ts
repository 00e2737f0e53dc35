import type { AssistantBlock, Message } from '../../base/content.ts';
import type { JsonObject } from '../../base/json/json.ts';

/**
 * Runs the model requests of a thread: converts one request to events. engine.suite.ts tests what every
 * implementation does. The session owns the loop around it: tools, approvals, delegation, retries.
 */
export interface Engine {
  /**
   * One model request. The last event is `finished` or `failed`, there is exactly one of them, and nothing is ever
   * thrown. When the signal is aborted, it ends at once with the failure `interrupted`.
   */
  request(request: ModelRequest, signal: AbortSignal): AsyncIterable<EngineEvent>;
  /** Ends the requests in progress, as the signal does, and releases connections and processes. */
  close(): Promise<void>;
}

/** One model request of a thread. */
export interface ModelRequest {
  readonly model: ModelChoice;
  readonly system: string | null;
  /** The history, which begins with a message to the agent. Several messages of the same role may follow each other. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  /** The thread that makes the request, for logs and caches: distinguishes two threads of the same agent. */
  readonly thread: { readonly id: string; readonly agentName: string };
  /** Called with the usage so far, whenever it changes: an interrupted request is charged as well. */
  readonly onUsage?: (usage: Usage) => void;
  /** Called for each sign of activity, by engines that have a connection. Called often, so it must be quick. */
  readonly onSign?: (sign: RequestPhase) => void;
}

/** `queued`: the request waits before it is sent. `open`: the response begins. `byte`: more of the response arrived, also a ping. */
export type RequestPhase = 'queued' | 'sent' | 'open' | 'byte';

/** The model of a request and how it is to run. */
export interface ModelChoice {
  readonly id: string;
  readonly effort: string | null;
  readonly speed: 'standard' | 'fast';
  /** The region in which the model must run, for data that may not leave it. */
  readonly inferenceGeo?: string | undefined;
}

/** A tool as it is described to the model. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** An event of one model request. */
export type EngineEvent =
  /** The request waits before it is sent; `admitted` follows. Both precede all events of the response. */
  | ({ readonly type: 'queued' } & QueueState)
  | { readonly type: 'admitted' }
  /** A block begins. `index` counts from 0 without gaps; blocks do not overlap. `other`: a block of an unknown kind. */
  | {
      readonly type: 'block_started';
      readonly index: number;
      readonly block: 'text' | 'thinking' | 'tool_use' | 'other';
    }
  /** The next piece of text or thinking. Inputs of tools arrive only as a whole. */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /**
   * The whole response. Its blocks are the begun blocks; their text is the sum of the deltas. Only a last call
   * whose input was cut off, by `max_tokens` for example, is missing: half a call must not run.
   */
  | {
      readonly type: 'finished';
      readonly content: readonly AssistantBlock[];
      readonly stop: Stop;
      readonly usage: Usage;
      /** The full name of the model in the response, otherwise the name in the request. */
      readonly model: string;
    }
  /** There is no response. Deltas emitted before are void, and the next request starts again. Tokens may have been used. */
  | { readonly type: 'failed'; readonly failure: EngineFailure; readonly usage: Usage | null };

/** Why a request waits: the limit of requests in progress is reached, or the endpoint has asked for a pause. */
export interface QueueState {
  readonly reason: 'concurrency' | 'paused';
  /** The number of requests that wait before it. */
  readonly ahead: number;
  /** How long the pause lasts; null if unknown. */
  readonly waitMs: number | null;
}

/** Why the model stopped. With `tool_use` there is at least one call; other reasons may come with calls too. */
export interface Stop {
  readonly reason:
    | 'end_turn'
    | 'tool_use'
    | 'max_tokens'
    | 'stop_sequence'
    | 'pause_turn'
    | 'refusal'
    | 'context_window_exceeded';
  /** The category of a refusal. */
  readonly category: string | null;
  readonly explanation: string | null;
}

/** Tokens that a model request used. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Tokens written to the cache, by how long it keeps them. */
  readonly cacheWrite5mTokens: number;
  readonly cacheWrite1hTokens: number;
}

/** Why a model request failed, and what that means for its turn. */
export interface EngineFailure {
  readonly reason: FailureReason;
  /** The error message for people, without secrets. */
  readonly message: string;
  /** `retry`: the same request may work later. `turn`: this turn is lost. `session`: no turn can ever work. */
  readonly consequence: 'retry' | 'turn' | 'session';
  /** How long the endpoint asks to wait; null if it does not ask. */
  readonly retryAfterMs: number | null;
}

/** The kinds of failures of a model request. */
export type FailureReason =
  | 'overloaded'
  | 'rate_limited'
  /** The request was rejected, or the response is not valid. */
  | 'request_failed'
  /** The connection broke, also after a response that looked complete. */
  | 'connection_lost'
  | 'billing'
  | 'authentication'
  /** The request does not fit into the context window of the model. */
  | 'context_exceeded'
  /** The signal was aborted. */
  | 'interrupted'
  /** The workspace of the session cannot be opened, so no request was sent. */
  | 'workspace_failed'
  | 'unknown';
