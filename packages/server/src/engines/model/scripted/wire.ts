/**
 * The shapes of the Messages API that a script can produce, with the API's names. A compile-time test
 * compares them with the types of the official SDK.
 */

/** Why a response ended. */
export const stopReasons = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
] as const;

/** One of the stop reasons. */
export type StopReason = (typeof stopReasons)[number];

/** A whole response. */
export interface Message {
  id: string;
  type: 'message';
  role: 'assistant';
  model: string;
  content: ContentBlock[];
  stop_reason: StopReason | null;
  stop_sequence: string | null;
  stop_details: StopDetails | null;
  container: null;
  diagnostics: null;
  usage: Usage;
}

/** A content block of a response. */
export type ContentBlock =
  | { type: 'text'; text: string; citations: null }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown; caller: { type: 'direct' } };

/** Details of a refusal. */
export interface StopDetails {
  type: 'refusal';
  category: null;
  explanation: null;
}

/** Tokens that a response used. */
export interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  cache_creation: null;
  output_tokens: number;
  output_tokens_details: null;
  server_tool_use: null;
  service_tier: 'standard';
  inference_geo: null;
  speed: null;
}

/** The usage in the last event of a response. */
export type DeltaUsage = Pick<
  Usage,
  | 'input_tokens'
  | 'cache_creation_input_tokens'
  | 'cache_read_input_tokens'
  | 'output_tokens'
  | 'output_tokens_details'
  | 'server_tool_use'
>;

/** An event of a streamed response. */
export type MessagesEvent =
  | { type: 'message_start'; message: Message }
  | { type: 'content_block_start'; index: number; content_block: ContentBlock }
  | { type: 'content_block_delta'; index: number; delta: BlockDelta }
  | { type: 'content_block_stop'; index: number }
  | {
      type: 'message_delta';
      delta: Pick<Message, 'stop_reason' | 'stop_sequence' | 'stop_details' | 'container'>;
      usage: DeltaUsage;
    }
  | { type: 'message_stop' };

/** A piece of a content block. */
export type BlockDelta =
  | { type: 'text_delta'; text: string }
  | { type: 'thinking_delta'; thinking: string }
  | { type: 'signature_delta'; signature: string }
  | { type: 'input_json_delta'; partial_json: string };

/** A ping between the events of a message. Readers ignore it. */
export interface PingEvent {
  type: 'ping';
}

/** The body of an error response. */
export interface ErrorBody {
  type: 'error';
  error: { type: string; message: string };
  request_id: string;
}

/** A model in the list of models. */
export interface ModelInfo {
  type: 'model';
  id: string;
  display_name: string;
  created_at: string;
  lifecycle: 'active';
  line: null;
  capabilities: null;
  max_input_tokens: null;
  max_tokens: null;
  deprecated_at: null;
  retires_at: null;
}
