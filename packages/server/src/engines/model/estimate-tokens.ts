import type { AssistantBlock, InputBlock, Message, ResultBlock, ToolResultBlock } from '../../base/content.ts';

/**
 * Estimates the tokens of messages. The endpoint counts exactly, but only messages that it has read; this is for
 * newer messages.
 */
export function estimateTokens(messages: readonly Message[]): number {
  let tokens = 0;
  for (const { content } of messages) for (const block of content) tokens += estimateBlock(block);
  return tokens;
}

const CHARS_PER_TOKEN = 4;
/** Tokens of a picture of the largest size that models accept. */
const IMAGE_TOKENS = 1_600;
/** Characters of a document per token: pages contain pictures and fonts, so a document has many more bytes than words. */
const DOCUMENT_CHARS_PER_TOKEN = 30;
/** Estimate for a document whose content is unknown, such as one at a URL. */
const DOCUMENT_TOKENS = 3_000;

function estimateBlock(block: AssistantBlock | InputBlock | ResultBlock | ToolResultBlock): number {
  switch (block.type) {
    case 'text':
      return toTokens(block.text);
    case 'thinking':
      return toTokens(block.thinking);
    case 'redacted_thinking':
      return toTokens(block.data);
    case 'tool_use':
      return toTokens(block.name) + toTokens(JSON.stringify(block.input));
    case 'tool_result':
      return block.content.reduce((sum, part) => sum + estimateBlock(part), 1);
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return estimateDocument(block.source);
    case 'search_result':
      return block.content.reduce((sum, part) => sum + estimateBlock(part), toTokens(block.title));
    case 'opaque':
      return toTokens(JSON.stringify(block.raw));
  }
}

function estimateDocument({ type, data }: { readonly [key: string]: unknown }): number {
  if (typeof data !== 'string') return DOCUMENT_TOKENS;
  return type === 'text' ? toTokens(data) : Math.ceil(data.length / DOCUMENT_CHARS_PER_TOKEN);
}

function toTokens(text: string): number {
  return Math.ceil(text.length / CHARS_PER_TOKEN);
}
