/** A step of `POST /v1/imports`: an action of an agent at a line of its file. */
export interface Step {
  /** `main`, or the id of a sub-agent. */
  readonly key: string;
  /** The line number, from 1. The end of a turn has the number of the line before. */
  readonly line: number;
  readonly time: string;
  readonly event: StepEvent;
}

/** What happened in a step, in the form of `POST /v1/imports`. */
export type StepEvent =
  | { readonly type: 'said'; readonly content: readonly Block[] }
  | { readonly type: 'turn_started' }
  | { readonly type: 'turn_ended'; readonly outcome: Outcome }
  | {
      readonly type: 'thread_opened';
      readonly parent_key: string;
      readonly agent_name: string;
      readonly description: string | null;
      readonly prompt: string | null;
      readonly call_id: string | null;
    }
  | { readonly type: 'thread_started'; readonly prompt: string | null }
  | {
      readonly type: 'thread_ended';
      readonly status: 'completed' | 'failed' | 'stopped';
      readonly error: string | null;
    }
  | { readonly type: 'request_started'; readonly model: string }
  | {
      readonly type: 'request_ended';
      readonly model: string;
      readonly usage: StepUsage;
      readonly stop_reason: string | null;
      readonly is_error: boolean;
    }
  | { readonly type: 'block'; readonly content: Block }
  | { readonly type: 'call'; readonly call_id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'result';
      readonly call_id: string;
      readonly content: readonly Block[];
      readonly is_error: boolean;
    }
  | { readonly type: 'compacted' };

/** How an imported turn ended. */
export type Outcome =
  | { readonly type: 'done' | 'stopped' }
  | { readonly type: 'refused' | 'failed'; readonly message: string };

/** Token usage of an imported model request. */
export interface StepUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_5m_input_tokens: number;
  readonly cache_creation_1h_input_tokens: number;
}

/** A content block of the Messages API. */
export interface Block {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The key of the main agent. */
export const MAIN = 'main';
