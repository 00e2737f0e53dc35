import type { MessageBlock, ResultBlock, TextBlock } from './content.ts';

/** Body of `POST /v1/sessions/{id}/events`. One invalid event rejects all of them. */
export interface EventSendParams {
  readonly events: readonly ClientEventParams[];
}

/** The events that a client may send. */
export type ClientEventParams =
  | UserMessageEventParams
  | UserInterruptEventParams
  | UserToolConfirmationEventParams
  | UserCustomToolResultEventParams
  | UserToolResultEventParams
  | DefineOutcomeEventParams
  | SystemMessageEventParams;

/** A message to the primary thread. */
export interface UserMessageEventParams {
  readonly type: 'user.message';
  readonly content: readonly MessageBlock[];
}

/** Stops a thread, or all threads if none is named. */
export interface UserInterruptEventParams extends ThreadParams {
  readonly type: 'user.interrupt';
}

/** The decision about a tool call that waits for approval. */
export interface UserToolConfirmationEventParams extends ThreadParams {
  readonly type: 'user.tool_confirmation';
  readonly tool_use_id: string;
  readonly result: 'allow' | 'deny';
  /** Only with `deny`. */
  readonly deny_message?: string | null;
  /** Fleetloom only: the standing rule that decided. Absent or null: a person decided this call. */
  readonly rule?: string | null;
  /** Fleetloom only, with `allow`: the call runs with this input instead of its own. */
  readonly updated_input?: Readonly<Record<string, unknown>> | null;
  /** Fleetloom only, with `deny`: the turn that made the call ends as well. */
  readonly interrupt?: boolean | null;
}

/** The result of a custom tool, or the answer to a question. */
export interface UserCustomToolResultEventParams extends ThreadParams, ToolResultParams {
  readonly type: 'user.custom_tool_result';
  readonly custom_tool_use_id: string;
}

/** The result of a built-in tool that a worker ran. Only in self-hosted environments. */
export interface UserToolResultEventParams extends ThreadParams, ToolResultParams {
  readonly type: 'user.tool_result';
  readonly tool_use_id: string;
}

/** Defines an outcome against which the session's work is evaluated. */
export interface DefineOutcomeEventParams {
  readonly type: 'user.define_outcome';
  readonly description: string;
  readonly rubric: Rubric;
  readonly max_iterations?: number | null;
}
/** How an outcome is evaluated. */
export type Rubric =
  | { readonly type: 'text'; readonly content: string }
  | { readonly type: 'file'; readonly file_id: string };

/** A system message in the middle of a session. It must be the last event of its request. */
export interface SystemMessageEventParams {
  readonly type: 'system.message';
  readonly content: readonly TextBlock[];
}

/** Older clients name the thread of a call, newer ones do not; an empty string counts as absent. */
interface ThreadParams {
  readonly session_thread_id?: string | null;
}
/** The result of a tool that did not run on the server. */
export interface ToolResultParams {
  readonly content?: readonly ResultBlock[];
  readonly is_error?: boolean | null;
}
