/**
 * The shapes of the OpenAI Responses API that a script can produce, with the API's names. A compile-time test compares them
 * with the types of the official SDK.
 */

/** A whole response. */
export interface Response {
  id: string;
  object: 'response';
  created_at: number;
  status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  error: { code: string; message: string } | null;
  incomplete_details: { reason: 'max_output_tokens' | 'content_filter' } | null;
  instructions: null;
  metadata: null;
  model: string;
  output: OutputItem[];
  parallel_tool_calls: boolean;
  temperature: null;
  tool_choice: 'auto';
  tools: [];
  top_p: null;
  usage: ResponseUsage | null;
}

/** An item of a response. */
export type OutputItem = ReasoningItem | MessageItem | FunctionCallItem | CustomToolCallItem;

/** The thinking of the model, as a summary. */
export interface ReasoningItem {
  type: 'reasoning';
  id: string;
  summary: SummaryPart[];
  /** Opaque content, which clients must return unchanged. */
  encrypted_content: string;
}

/** The text of the model. */
export interface MessageItem {
  type: 'message';
  id: string;
  role: 'assistant';
  status: 'in_progress' | 'completed';
  content: TextPart[];
}

/** The call of a tool whose arguments are JSON. */
export interface FunctionCallItem {
  type: 'function_call';
  id: string;
  call_id: string;
  name: string;
  namespace?: string;
  arguments: string;
  status: 'in_progress' | 'completed';
}

/** The call of a tool whose input is a text. */
export interface CustomToolCallItem {
  type: 'custom_tool_call';
  id: string;
  call_id: string;
  name: string;
  namespace?: string;
  input: string;
  status: 'in_progress' | 'completed';
}

/** A text of a message. */
export interface TextPart {
  type: 'output_text';
  text: string;
  annotations: [];
  logprobs: [];
}

/** A text of a summary. */
export interface SummaryPart {
  type: 'summary_text';
  text: string;
}

/** Tokens that a response used. Cached ones are part of the input, thoughts are part of the output. */
export interface ResponseUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

/** An event of a streamed response. */
export type ResponsesEvent = ResponsesEventBody & { sequence_number: number };

/** An event without its place in the stream. */
export type ResponsesEventBody =
  | {
      type:
        | 'response.created'
        | 'response.in_progress'
        | 'response.completed'
        | 'response.incomplete'
        | 'response.failed';
      response: Response;
    }
  | { type: 'response.output_item.added' | 'response.output_item.done'; output_index: number; item: OutputItem }
  | (InMessage & { type: 'response.content_part.added' | 'response.content_part.done'; part: TextPart })
  | (InMessage & { type: 'response.output_text.delta'; delta: string; logprobs: [] })
  | (InMessage & { type: 'response.output_text.done'; text: string; logprobs: [] })
  | (InReasoning & {
      type: 'response.reasoning_summary_part.added' | 'response.reasoning_summary_part.done';
      part: SummaryPart;
    })
  | (InReasoning & { type: 'response.reasoning_summary_text.delta'; delta: string })
  | (InReasoning & { type: 'response.reasoning_summary_text.done'; text: string })
  | (InItem & { type: 'response.function_call_arguments.delta'; delta: string })
  | (InItem & { type: 'response.function_call_arguments.done'; name: string; arguments: string })
  | (InItem & { type: 'response.custom_tool_call_input.delta'; delta: string })
  | (InItem & { type: 'response.custom_tool_call_input.done'; input: string });

/** Which item an event belongs to. */
export interface InItem {
  item_id: string;
  output_index: number;
}

type InMessage = InItem & { content_index: number };
type InReasoning = InItem & { summary_index: number };

/** The body of an error response. */
export interface ResponsesErrorBody {
  error: { message: string; type: string; param: string | null; code: string | null };
}
