/**
 * The wire as Claude Code writes it, one JSON object per line. Names are the wire's own.
 *
 * Only fields that the translator reads are named; everything else is kept on the object untouched. Nothing here is
 * guaranteed by the program that wrote the line, so every field but `type` is optional and is checked where it is read.
 */
export interface StreamJsonMessage {
  type: string;
  subtype?: string;
  uuid?: string;
  session_id?: string;
  parent_tool_use_id?: string | null;
  agent_id?: string;
  timestamp?: string;
  message?: WireMessage | null;
  [field: string]: unknown;
}

/** The Messages API message inside `assistant` and `user` lines. */
export interface WireMessage {
  id?: string;
  role?: string;
  model?: string;
  content?: string | WireBlock[] | null;
  [field: string]: unknown;
}

/** A content block: `text`, `thinking`, `tool_use`, `tool_result` and whatever comes next. */
export interface WireBlock {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  content?: unknown;
  is_error?: boolean;
  [field: string]: unknown;
}

/** A line that is not a message. `offset` and `length` are bytes of the stream, without the line's ending. */
export type LineIssue =
  | { type: 'malformed'; offset: number; length: number; reason: string; excerpt: string }
  | { type: 'oversize'; offset: number; length: number; limit: number };

/** The result of reading one line. */
export type LineItem = { type: 'message'; message: StreamJsonMessage } | LineIssue;
