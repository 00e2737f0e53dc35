import type { Block, Conversation } from './conversation.ts';

/**
 * The formula: a token for every four characters or part of them, and at least one. It counts the characters of the system prompt, of
 * the tools' definitions as JSON, and of all blocks: texts, thoughts, results, and of a call its name and its input as
 * JSON. Images and documents count 0.
 */
export function countTokens({ system, messages, toolsChars }: Conversation): number {
  let chars = toolsChars;
  for (const text of system) chars += text.length;
  for (const { blocks } of messages) for (const block of blocks) chars += charsOf(block);
  return toTokens(chars);
}

/** The same formula for the output of the model. */
export function toTokens(chars: number): number {
  return Math.max(1, Math.ceil(chars / 4));
}

function charsOf(block: Block): number {
  if (block.type === 'tool_use') return block.chars;
  return 'text' in block ? block.text.length : 0;
}
