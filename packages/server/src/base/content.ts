import type { Json, JsonObject } from './json.ts';

// What people, models and tools say to each other, in the words of the Messages API: it travels from the door through
// the log to the model and back without being translated. Fields that we do not know travel with it.

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

export interface SearchResultBlock {
  readonly type: 'search_result';
  readonly source: string;
  readonly title: string;
  readonly content: readonly TextBlock[];
  readonly citations?: JsonObject;
}

/** What somebody may say to an agent. */
export type InputBlock = TextBlock | ImageBlock | DocumentBlock;

/** What a tool may answer. */
export type ResultBlock = InputBlock | SearchResultBlock;

export interface ToolUseBlock {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly input: Json;
}

/** What a model may say. The signature of a thought has to come back to it unchanged. */
export type AssistantBlock =
  | TextBlock
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | ToolUseBlock
  | OpaqueBlock;

/** A block of a kind that we do not know. The model gets it back as it came; nobody else looks inside. */
export interface OpaqueBlock {
  readonly type: 'opaque';
  readonly raw: JsonObject;
}

export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: readonly ResultBlock[];
  readonly is_error: boolean;
}

/** One entry of what a model is told. */
export type Message =
  | { readonly role: 'user'; readonly content: readonly (InputBlock | ToolResultBlock)[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantBlock[] };
