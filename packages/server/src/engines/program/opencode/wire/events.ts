import type { Json } from '../../../../base/json/json.ts';

/** An event of opencode's `GET /event`, as far as the engine uses it. */
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

/** A conversation of opencode: that of the main agent, or of a sub-agent. */
export interface SessionInfo {
  readonly id: string;
  readonly parentId: string | null;
  readonly title: string;
  readonly agent: string | null;
}

/** What a conversation is doing. */
export type SessionStatus =
  | { readonly type: 'busy' }
  | { readonly type: 'idle' }
  /** `next` is when the request is sent again, in milliseconds since 1970. */
  | { readonly type: 'retry'; readonly attempt: number; readonly message: string; readonly next: number | null };

/** What went wrong, in opencode's words. */
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
      /** The message of the user that it answers. */
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

/** How far a tool call is. */
export interface ToolState {
  readonly status: 'pending' | 'running' | 'completed' | 'error';
  readonly input: Json;
  /** The output or the error; empty until there is one. */
  readonly output: string;
  /** What a running command has written so far; of a long output its end. */
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
  /** The call that it is about. Null: not about a call. */
  readonly callId: string | null;
  /** What is asked for, such as `bash` or `external_directory`. */
  readonly permission: string;
  /** The texts of the questions. */
  readonly questions: readonly string[];
}

/** What the server knows of one conversation. */
export interface Snapshot {
  readonly conversation: string;
  readonly status: SessionStatus;
  /** Oldest first. */
  readonly messages: readonly { readonly message: MessageInfo; readonly parts: readonly Part[] }[];
  readonly asks: readonly AskRequest[];
  readonly children: readonly SessionInfo[];
}
