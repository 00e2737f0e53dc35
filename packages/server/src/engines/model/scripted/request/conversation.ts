/** The parts of a checked request that the scripted model uses. */
export interface Conversation {
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number;
  /** The texts of the system prompt. */
  readonly system: readonly string[];
  readonly messages: readonly ConversationMessage[];
  readonly tools: readonly string[];
  /** Tools whose input is text instead of JSON. */
  readonly freeformTools: ReadonlySet<string>;
  /** Length of the descriptions of all tools, for counting tokens. */
  readonly toolsChars: number;
  readonly stopSequences: readonly string[];
  /**
   * The caller (`metadata.user_id`), empty if unknown. Distinguishes equal requests of two sessions when attempts are counted.
   */
  readonly userId: string;
  /** The digest of the messages, independent of cache markers and the order of keys. */
  readonly digest: string;
}

/** A message of a checked request. */
export interface ConversationMessage {
  readonly role: Role;
  readonly blocks: readonly Block[];
}

/** The author of a message. */
export type Role = 'user' | 'assistant' | 'system';

/** A content block of a checked request. */
export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly chars: number }
  | ToolResult
  /** Images, documents and unknown blocks: accepted and ignored. */
  | { readonly type: 'other' };

/** A tool result in a request. */
export interface ToolResult {
  readonly type: 'tool_result';
  readonly id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The text blocks of a message as one text. */
export function textOf(message: ConversationMessage | undefined): string {
  return joinTexts((message?.blocks ?? []).filter((block) => block.type === 'text'));
}

/** The tool results in a message. */
export function resultsOf(message: ConversationMessage | undefined): ToolResult[] {
  return (message?.blocks ?? []).filter((block) => block.type === 'tool_result');
}

/** The newest user message's texts and tool results as one text. */
export function newestUserContent({ messages }: Conversation): string {
  return contentOf(messages.findLast(({ role }) => role === 'user'));
}

/** The content of all user messages. */
export function allUserContent({ messages }: Conversation): string {
  return messages
    .filter(({ role }) => role === 'user')
    .map(contentOf)
    .join('\n');
}

function contentOf(message: ConversationMessage | undefined): string {
  return joinTexts((message?.blocks ?? []).filter((block) => block.type === 'text' || block.type === 'tool_result'));
}

/** How many responses the conversation contains. */
export function countAnswers({ messages }: Conversation): number {
  return messages.filter(({ role }) => role === 'assistant').length;
}

/** The texts of blocks as one text. */
export function joinTexts(blocks: readonly { readonly text: string }[]): string {
  return blocks.map(({ text }) => text).join('\n');
}
