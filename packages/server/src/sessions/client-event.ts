import type { InputBlock, ResultBlock, TextBlock } from '../base/content.ts';
import type { JsonObject } from '../base/json.ts';

/** What a client sends to a session. The door has checked its form; what it refers to is checked when it is sent. */
export type ClientEvent =
  | {
      readonly type: 'user.message';
      readonly content: readonly InputBlock[];
      /** Left out: the coordinator. */
      readonly thread_id?: string;
    }
  | { readonly type: 'system.message'; readonly content: readonly TextBlock[] }
  | {
      readonly type: 'user.interrupt';
      /** Null: all threads. */
      readonly session_thread_id: string | null;
      /** With a thread: everything that it delegated, too. */
      readonly is_subtree?: boolean;
    }
  | {
      readonly type: 'user.tool_confirmation';
      readonly tool_use_id: string;
      readonly result: 'allow' | 'deny';
      readonly deny_message: string | null;
      /** Who says so. */
      readonly by?: string;
      /** What was allowed for good and says so; left out or null: somebody decided this one. */
      readonly rule?: string | null;
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
      /** Who gives it. */
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
}
