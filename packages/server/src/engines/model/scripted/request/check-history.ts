import type { Block, ConversationMessage } from './conversation.ts';
import { InvalidInput } from '../script/invalid-input.ts';

/**
 * Rejects histories that the real API rejects, with its messages: every call has its result in the next message, and there are no
 * other results. This shows in tests if an agent loop loses a result in a crash or an interrupt.
 */
export function* checkHistory(messages: readonly ConversationMessage[]): Generator<void, void> {
  const seen = new Set<string>();
  let open: Open = { at: -1, ids: new Set() };
  for (const [at, message] of messages.entries()) {
    if (at % MESSAGES_AT_ONCE === 0) yield;
    checkContent(message, at, at === messages.length - 1);
    if (message.role === 'assistant') {
      // Messages of one role in a row are one turn.
      if (messages[at - 1]?.role !== 'assistant') open = closeCalls(open, at);
      for (const [index, block] of message.blocks.entries()) addCall(block, `messages.${at}.content.${index}`);
    } else if (message.role === 'user') {
      if (messages[at - 1]?.role !== 'user') checkFirst(message, at);
      answerCalls(message, at, open);
      if (messages[at + 1]?.role !== 'user') open = closeCalls(open, at);
    }
  }
  closeCalls(open, messages.length);

  function addCall(block: Block, path: string): void {
    if (block.type !== 'tool_use') return;
    if (seen.has(block.id)) throw new InvalidInput(path, '`tool_use` ids must be unique');
    seen.add(block.id);
    open.ids.add(block.id);
  }
}

const MESSAGES_AT_ONCE = 64;

/** The calls of the newest response without a result, and the index of their message. */
interface Open {
  at: number;
  ids: Set<string>;
}

function checkContent({ role, blocks }: ConversationMessage, at: number, isLast: boolean): void {
  if (blocks.length > 0 || (isLast && role === 'assistant')) return;
  throw new InvalidInput(
    `messages.${at}`,
    'all messages must have non-empty content except for the optional final assistant message',
  );
}

/** Checks that no call is open, and returns the record for the calls of the next response. */
function closeCalls({ at, ids }: Open, next: number): Open {
  if (ids.size === 0) return { at: next, ids };
  throw new InvalidInput(
    `messages.${at}`,
    `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...ids].join(', ')}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  );
}

/** A text before the results separates them from their calls. */
function checkFirst({ blocks }: ConversationMessage, at: number): void {
  const other = blocks.findIndex(({ type }) => type !== 'tool_result');
  const late = blocks.findLastIndex(({ type }) => type === 'tool_result');
  if (other === -1 || late < other) return;
  throw new InvalidInput(`messages.${at}.content.${late}`, '`tool_result` blocks must come first in the content');
}

function answerCalls({ blocks }: ConversationMessage, at: number, open: Open): void {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'tool_result' || open.ids.delete(block.id)) continue;
    throw new InvalidInput(
      `messages.${at}.content.${index}`,
      `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.id}. Each \`tool_result\` block must have ` +
        'a corresponding `tool_use` block in the previous message.',
    );
  }
}
