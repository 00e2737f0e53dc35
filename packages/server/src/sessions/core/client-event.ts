import type { InputBlock, ResultBlock, TextBlock } from '../../base/content.ts';
import type { JsonObject } from '../../base/json/json.ts';

/** An event that a client sends to a session. The route checked its form; what it refers to is checked when it is sent. */
export type ClientEvent =
  | {
      readonly type: 'user.message';
      readonly content: readonly InputBlock[];
      /** By default the primary thread. */
      readonly thread_id?: string;
    }
  | { readonly type: 'system.message'; readonly content: readonly TextBlock[] }
  | {
      readonly type: 'user.interrupt';
      /** Null: all threads. */
      readonly session_thread_id: string | null;
      /** Whether the children of the thread are interrupted too. */
      readonly is_subtree?: boolean;
    }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: string;
      readonly result: 'allow' | 'deny';
      readonly deny_message: string | null;
      /** The name of the caller that decided. */
      readonly by?: string;
      /** The rule that decided; left out or null: a person decided this call. */
      readonly rule?: string | null;
      /** The stored rule by which the server decided. No client can send it. */
      readonly rule_id?: string;
      /** Only with `allow`: the input that the call runs with instead of its own. */
      readonly updated_input?: JsonObject;
      /** Only with `deny`: the turn that made the call ends as well. */
      readonly interrupt?: boolean;
    }
  | {
      readonly type: 'user.custom_tool_result';
      readonly custom_tool_use_id: string;
      readonly content: readonly ResultBlock[];
      readonly is_error: boolean;
      /** The name of the caller that sent the result. */
      readonly by?: string;
    }
  | {
      readonly type: 'user.tool_result';
      readonly tool_use_id: string;
      readonly content: readonly ResultBlock[];
      readonly is_error: boolean;
    };

/** An event that was sent and has its id. */
export interface ClientInput {
  readonly id: string;
  readonly event: ClientEvent;
  /** Of a decision or tool result: the thread of the call. */
  readonly threadId?: string | null | undefined;
}
