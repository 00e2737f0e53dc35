import { checkHistory } from './check-history.ts';
import type { Block, Conversation, ConversationMessage, Role } from './conversation.ts';
import { digest } from './digest.ts';
import { canonicalJson, type Json, readJson } from './json.ts';
import { limits } from './limits.ts';
import { Misfit } from './misfit.ts';
import { type Fields, readFields, readFlag, readList, readName, readOr, readText, readWhole } from './read-fields.ts';

/**
 * The body of a request to a conversation. Throws a {@link Misfit} where the real API would answer 400, with paths
 * spelt as there: `messages.0.content.1.text`. Fields that do not matter to a script are not looked at.
 */
export function checkRequest(body: unknown, purpose: 'answer' | 'count'): Conversation {
  const fields = readFields(body, 'body');
  const messages = readList(fields['messages'], 'messages', { min: 1, max: limits.messagesMax });
  const tools = readOr(fields['tools'], [], (value) => readList(value, 'tools', { max: limits.messagesMax }));
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const checked = messages.map((message, index) => checkMessage(message, `messages.${index}`));
  checkHistory(checked);
  return {
    model: readName(fields['model'], 'model'),
    stream: readOr(fields['stream'], false, (value) => readFlag(value, 'stream')),
    maxTokens: purpose === 'count' ? 0 : readWhole(fields['max_tokens'], 'max_tokens', range),
    system: readOr(fields['system'], [], (value) => checkSystem(value)),
    messages: checked,
    tools: tools.flatMap((tool, index) => readToolName(readFields(tool, `tools.${index}`))),
    toolsChars: tools.length === 0 ? 0 : canonicalJson(readJson(tools, 'tools', limits.depthMax)).length,
    stopSequences: readOr(fields['stop_sequences'], [], (value) => checkStopSequences(value)),
    userId: readUserId(fields['metadata']),
    digest: digest('messages', canonicalJson(toComparable(readJson(messages, 'messages', limits.depthMax)))),
  };
}

function checkMessage(value: unknown, path: string): ConversationMessage {
  const fields = readFields(value, path);
  const role = checkRole(fields['role'], `${path}.role`);
  const content = fields['content'];
  if (typeof content === 'string') return { role, blocks: content === '' ? [] : [{ type: 'text', text: content }] };
  const blocks = readList(content, `${path}.content`, { max: limits.messagesMax });
  return { role, blocks: blocks.map((block, index) => checkBlock(block, `${path}.content.${index}`)) };
}

function checkRole(value: unknown, path: string): Role {
  if (value === 'user' || value === 'assistant' || value === 'system') return value;
  throw new Misfit(path, 'must be user, assistant or system');
}

function checkBlock(value: unknown, path: string): Block {
  const fields = readFields(value, path);
  const type = readName(fields['type'], `${path}.type`);
  if (type === 'text') return { type, text: readName(fields['text'], `${path}.text`) };
  if (type === 'thinking') return { type, text: readText(fields['thinking'], `${path}.thinking`) };
  if (type === 'tool_use') return checkToolUse(fields, path);
  if (type === 'tool_result') return checkToolResult(fields, path);
  return { type: 'other' };
}

function checkToolUse(fields: Fields, path: string): Block {
  const name = readName(fields['name'], `${path}.name`);
  const input = canonicalJson(readJson(readFields(fields['input'], `${path}.input`), `${path}.input`, limits.depthMax));
  return { type: 'tool_use', id: readName(fields['id'], `${path}.id`), chars: name.length + input.length };
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

/** Some entries are whole toolsets, which have other names or none. */
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

/** Only a name to tell callers apart, so that whatever else it may be is no reason to refuse. */
function readUserId(metadata: unknown): string {
  const id: unknown = typeof metadata === 'object' && metadata !== null && 'user_id' in metadata && metadata.user_id;
  return typeof id === 'string' ? id : '';
}

/** Clients move their cache markers from message to message, and spell a single text in two ways. */
function toComparable(value: Json, key = ''): Json {
  if (key === 'content' && typeof value === 'string') return [{ type: 'text', text: value }];
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: Json) => toComparable(item));
  const entries = Object.entries(value).filter(([name]) => name !== 'cache_control');
  return Object.fromEntries(entries.map(([name, item]) => [name, toComparable(item, name)]));
}
