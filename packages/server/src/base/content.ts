import type { Json, JsonObject } from './json/json.ts';

// Content of people, models and tools in the format of the Messages API. It passes from the route through
// the log to the model and back without conversion, unknown fields included.

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}

/** `source` is `base64`, `url`, `file` or, for documents, `text`. */
export interface ImageBlock {
  readonly type: 'image';
  readonly source: JsonObject;
}

export interface DocumentBlock {
  readonly type: 'document';
  readonly source: JsonObject;
  readonly title?: string | null;
  readonly context?: string | null;
}

/** A search result that the model can cite. */
export interface SearchResultBlock {
  readonly type: 'search_result';
  readonly source: string;
  readonly title: string;
  readonly content: readonly TextBlock[];
  readonly citations?: JsonObject;
}

/** A block of a message to an agent. */
export type InputBlock = TextBlock | ImageBlock | DocumentBlock;

/** A block of a tool result. */
export type ResultBlock = InputBlock | SearchResultBlock;

/** A tool call of the model. */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** A block of a model's answer. The signature of a thinking block has to be sent back unchanged. */
export type AssistantBlock =
  | TextBlock
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | ToolUseBlock
  | OpaqueBlock;

/** A block of an unknown type. It is sent back to the model unchanged; no other code reads it. */
export interface OpaqueBlock {
  readonly type: 'opaque';
  readonly raw: JsonObject;
}

/** The result of a tool call, for the model. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
}

/** One message of the history that a model receives. */
export type Message =
  | { readonly role: 'user'; readonly content: readonly (InputBlock | ToolResultBlock)[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] };
