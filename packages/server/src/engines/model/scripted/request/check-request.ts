import { checkHistory } from './check-history.ts';
import type { Block, Conversation, ConversationMessage, Role } from './conversation.ts';
import { digestPieces } from '../digest.ts';
import { readJson, writeCanonical } from '../json.ts';
import { limits } from '../limits.ts';
import { InvalidInput } from '../script/invalid-input.ts';
import {
  type Fields,
  readFields,
  readFlag,
  readList,
  readName,
  readOr,
  readText,
  readWhole,
} from '../script/read-fields.ts';

/**
 * Converts the body of a request to a conversation. Throws a {@link InvalidInput} if the real API would respond with 400, with paths
 * in its format: `messages.0.content.1.text`. Fields that do not matter to a script are not checked.
 */
export function* checkRequest(body: unknown, purpose: 'answer' | 'count'): Generator<void, Conversation> {
  const fields = readFields(body, 'body');
  const messages = readList(fields['messages'], 'messages', { min: 1, max: limits.messagesMax });
  const tools = readOr(fields['tools'], [], (value) => readList(value, 'tools', { max: limits.messagesMax }));
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const checked: ConversationMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (index % ITEMS_AT_ONCE === 0) yield;
    checked.push(yield* checkMessage(message, `messages.${index}`));
  }
  yield* checkHistory(checked);
  return {
    model: readName(fields['model'], 'model'),
    stream: readOr(fields['stream'], false, (value) => readFlag(value, 'stream')),
    maxTokens: purpose === 'count' ? 0 : readWhole(fields['max_tokens'], 'max_tokens', range),
    system: readOr(fields['system'], [], (value) => checkSystem(value)),
    messages: checked,
    tools: tools.flatMap((tool, index) => readToolName(readFields(tool, `tools.${index}`))),
    freeformTools: new Set(),
    toolsChars: tools.length === 0 ? 0 : yield* countChars(tools, 'tools'),
    stopSequences: readOr(fields['stop_sequences'], [], (value) => checkStopSequences(value)),
    userId: readUserId(fields['metadata']),
    digest: yield* digestMessages(messages),
  };
}

/** Digests the messages in one pass after the check: serialising a long conversation takes most of the time of a response. */
function* digestMessages(messages: readonly unknown[]): Generator<void, string> {
  const checked = yield* readJson(messages, 'messages', limits.depthMax);
  return yield* digestPieces('messages', yield* writeCanonical(checked, { isComparable: true }));
}

function* checkMessage(value: unknown, path: string): Generator<void, ConversationMessage> {
  const fields = readFields(value, path);
  const role = checkRole(fields['role'], `${path}.role`);
  const content = fields['content'];
  if (typeof content === 'string') return { role, blocks: content === '' ? [] : [{ type: 'text', text: content }] };
  const blocks: Block[] = [];
  for (const [index, block] of readList(content, `${path}.content`, { max: limits.messagesMax }).entries()) {
    if (index % ITEMS_AT_ONCE === 0) yield;
    blocks.push(yield* checkBlock(block, `${path}.content.${index}`));
  }
  return { role, blocks };
}

const ITEMS_AT_ONCE = 64;

function checkRole(value: unknown, path: string): Role {
  if (value === 'user' || value === 'assistant' || value === 'system') return value;
  throw new InvalidInput(path, 'must be user, assistant or system');
}

function* checkBlock(value: unknown, path: string): Generator<void, Block> {
  const fields = readFields(value, path);
  const type = readName(fields['type'], `${path}.type`);
  if (type === 'text') return { type, text: readName(fields['text'], `${path}.text`) };
  if (type === 'thinking') return { type, text: readText(fields['thinking'], `${path}.thinking`) };
  if (type === 'tool_use') return yield* checkToolUse(fields, path);
  if (type === 'tool_result') return checkToolResult(fields, path);
  return { type: 'other' };
}

function* checkToolUse(fields: Fields, path: string): Generator<void, Block> {
  const name = readName(fields['name'], `${path}.name`);
  const chars = yield* countChars(readFields(fields['input'], `${path}.input`), `${path}.input`);
  return { type: 'tool_use', id: readName(fields['id'], `${path}.id`), chars: name.length + chars };
}

/** The length of a value as JSON. */
function* countChars(value: unknown, path: string): Generator<void, number> {
  const { chars } = yield* writeCanonical(yield* readJson(value, path, limits.depthMax));
  return chars;
}

function checkToolResult(fields: Fields, path: string): Block {
  return {
    type: 'tool_result',
    id: readName(fields['tool_use_id'], `${path}.tool_use_id`),
    text: readOr(fields['content'], '', (value) => readResultText(value, `${path}.content`)),
    isError: readOr(fields['is_error'], false, (value) => readFlag(value, `${path}.is_error`)),
  };
}

function readResultText(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  const blocks = readList(value, path, { max: limits.messagesMax }).map((block, index) => {
    return readFields(block, `${path}.${index}`);
  });
  const texts = blocks.flatMap(({ type, text }, index) => {
    return type === 'text' ? [readText(text, `${path}.${index}.text`)] : [];
  });
  return texts.join('\n');
}

/** The name of a tool, if it has one: some entries are toolsets. */
function readToolName({ name }: Fields): string[] {
  return typeof name === 'string' ? [name] : [];
}

function checkSystem(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  const blocks = readList(value, 'system', { max: limits.messagesMax });
  return blocks.map((block, index) => readText(readFields(block, `system.${index}`)['text'], `system.${index}.text`));
}

function checkStopSequences(value: unknown): string[] {
  const sequences = readList(value, 'stop_sequences', { max: limits.messagesMax });
  return sequences.map((item, index) => readText(item, `stop_sequences.${index}`));
}

/** Reads the user id, which only distinguishes callers, so that any other value is accepted too. */
function readUserId(metadata: unknown): string {
  const id: unknown = typeof metadata === 'object' && metadata !== null && 'user_id' in metadata && metadata.user_id;
  return typeof id === 'string' ? id : '';
}
