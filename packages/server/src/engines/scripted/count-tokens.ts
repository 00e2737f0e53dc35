import type { Block, Conversation } from './conversation.ts';
import type { ContentBlock } from './wire.ts';

/**
 * The formula: a token for every four characters begun, and at least one. Characters are those of the system prompt, of
 * the tools' definitions as JSON, and of all blocks: texts, thoughts, results, and of a call its name and its input as
 * JSON. Images and documents count nothing.
 */
export function countTokens({ system, messages, toolsChars }: Conversation): number {
  const blocks = messages.flatMap((message) => message.blocks);
  return toTokens(toolsChars + sum(system.map((text) => text.length)) + sum(blocks.map(charsOf)));
}

/** The same formula for what the model says. */
export function countAnswerTokens(content: readonly ContentBlock[]): number {
  return toTokens(sum(content.map(answerCharsOf)));
}

export function answerCharsOf(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length;
  if (block.type === 'thinking') return block.thinking.length;
  return block.name.length + JSON.stringify(block.input).length;
}

function toTokens(chars: number): number {
  return Math.max(1, Math.ceil(chars / 4));
}

function charsOf(block: Block): number {
  if (block.type === 'tool_use') return block.chars;
  return 'text' in block ? block.text.length : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
