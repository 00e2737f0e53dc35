import type { Json } from '../../../../base/json/json.ts';

/** An event of opencode's `GET /event`, with the fields that the engine uses. */
export type OpencodeEvent =
  | { readonly type: 'session'; readonly session: SessionInfo }
  | { readonly type: 'status'; readonly sessionId: string; readonly status: SessionStatus }
  | { readonly type: 'idle'; readonly sessionId: string }
  | { readonly type: 'error'; readonly sessionId: string; readonly error: OpencodeError }
  | { readonly type: 'message'; readonly message: MessageInfo }
  | { readonly type: 'part'; readonly part: Part }
  | {
      readonly type: 'delta';
      readonly sessionId: string;
      readonly messageId: string;
      readonly partId: string;
      readonly text: string;
    }
  | { readonly type: 'asked'; readonly request: AskRequest }
  /** A permission request or a question was answered, by this client or by another one. */
  | { readonly type: 'replied'; readonly sessionId: string; readonly requestId: string }
  | { readonly type: 'compacted'; readonly sessionId: string }
  /** The tasks that the agent has planned, as opencode lists them. */
  | { readonly type: 'todos'; readonly sessionId: string; readonly todos: unknown };

/** A conversation of opencode: the main agent's or a sub-agent's. */
export interface SessionInfo {
  readonly id: string;
  readonly parentId: string | null;
  readonly title: string;
  readonly agent: string | null;
}

/** The status of a conversation. */
export type SessionStatus =
  | { readonly type: 'busy' }
  | { readonly type: 'idle' }
  /** `next` is when the request is sent again, in milliseconds since 1970. */
  | { readonly type: 'retry'; readonly attempt: number; readonly message: string; readonly next: number | null };

/** An error with opencode's name and message. */
export interface OpencodeError {
  readonly name: string;
  readonly message: string;
  readonly statusCode: number | null;
}

/** A message of a conversation. One message of the assistant is one model request. */
export type MessageInfo =
  | { readonly role: 'user'; readonly id: string; readonly sessionId: string }
  | {
      readonly role: 'assistant';
      readonly id: string;
      readonly sessionId: string;
      /** The id of the user message that this message answers. */
      readonly parentId: string | null;
      readonly model: string;
      readonly finish: string | null;
      readonly error: OpencodeError | null;
      readonly isCompleted: boolean;
      readonly tokens: Tokens;
    };

/** The token counts of one model request. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A part of a message. */
export type Part = {
  readonly id: string;
  readonly sessionId: string;
  readonly messageId: string;
} & (
  | {
      readonly type: 'text' | 'reasoning';
      readonly text: string;
      readonly isWhole: boolean;
      readonly isSynthetic: boolean;
    }
  | { readonly type: 'tool'; readonly callId: string; readonly tool: string; readonly state: ToolState }
  /** The response of the model is complete. */
  | { readonly type: 'step-finish' }
  | { readonly type: 'other' }
);

/** The state of a tool call. */
export interface ToolState {
  readonly status: 'pending' | 'running' | 'completed' | 'error';
  readonly input: Json;
  /** The output or the error; empty until the call has one. */
  readonly output: string;
  /** The output of a running command so far, or the end of a long output. */
  readonly shown: string;
  /** The exit code of a command. */
  readonly exit: number | null;
  /** The conversation of the sub-agent that a `task` call runs. */
  readonly childId: string | null;
}

/** A permission request or a question that waits for an answer. */
export interface AskRequest {
  readonly kind: 'permission' | 'question';
  readonly id: string;
  readonly sessionId: string;
  /** opencode's id of the call; null if the request is not for a call. */
  readonly callId: string | null;
  /** The requested permission, such as `bash` or `external_directory`. */
  readonly permission: string;
  /** The texts of the questions. */
  readonly questions: readonly string[];
}

/** The state of one conversation in opencode. */
export interface Snapshot {
  readonly conversation: string;
  readonly status: SessionStatus;
  /** The messages with their parts, oldest first. */
  readonly messages: readonly { readonly message: MessageInfo; readonly parts: readonly Part[] }[];
  readonly asks: readonly AskRequest[];
  readonly children: readonly SessionInfo[];
}
