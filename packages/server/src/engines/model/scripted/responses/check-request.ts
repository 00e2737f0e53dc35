import { digestPieces } from '../digest.ts';
import { readJson, writeCanonical } from '../json.ts';
import { limits } from '../limits.ts';
import type { Conversation } from '../request/conversation.ts';
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
import { InputItems } from './input-items.ts';
import { readTools } from './read-tools.ts';

/**
 * Converts the body of `POST /v1/responses` to a conversation. Throws a {@link InvalidInput} if the real API would respond with 400, with
 * paths in its format: `input[0].content[1].text`. Fields that do not matter to a script are not checked.
 */
export function* checkResponsesRequest(body: unknown): Generator<void, Conversation> {
  const fields = withoutNulls(readFields(body, 'body'));
  refuseKept(fields);
  const input = withoutCutAnswer(readInput(fields['input']));
  const items = new InputItems();
  for (const [index, item] of input.entries()) {
    if (index % ITEMS_AT_ONCE === 0) yield;
    items.add(item, `input[${index}]`);
  }
  const { system, messages, addedTools } = items.finish();
  const tools = [...readOr(fields['tools'], [], readToolList), ...addedTools];
  const { names, freeform } = readTools(tools);
  const range = { min: 1, max: Number.MAX_SAFE_INTEGER };
  return {
    model: readName(fields['model'], 'model'),
    stream: readOr(fields['stream'], false, (value) => readFlag(value, 'stream')),
    maxTokens: readOr(fields['max_output_tokens'], range.max, (value) => readWhole(value, 'max_output_tokens', range)),
    system: [...readOr(fields['instructions'], [], (value) => [readText(value, 'instructions')]), ...system],
    messages,
    tools: names,
    freeformTools: freeform,
    toolsChars:
      tools.length === 0 ? 0 : (yield* writeCanonical(yield* readJson(tools, 'tools', limits.depthMax))).chars,
    stopSequences: [],
    userId: readUserId(fields),
    digest: yield* digestPieces(
      'input',
      yield* writeCanonical(yield* readJson(input, 'input', limits.depthMax), { isComparable: true }),
    ),
  };
}

const ITEMS_AT_ONCE = 64;

/** Removes null fields: clients send null for fields that they do not set. */
function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** Rejects requests that name a stored conversation: the scripted model does not store any. */
function refuseKept(fields: Fields): void {
  for (const name of ['previous_response_id', 'conversation', 'prompt']) {
    if (fields[name] === undefined) continue;
    throw new InvalidInput(name, 'is not supported: the scripted model stores nothing; send all items in `input`');
  }
  if (fields['background'] === true) throw new InvalidInput('background', 'is not supported; use `stream`');
}

function readInput(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return [{ type: 'message', role: 'user', content: value }];
  return readList(value, 'input', { min: 1, max: limits.messagesMax });
}

/**
 * Removes the finished items of a response that was cut, which Codex sends at the end of the input of a retry. The retry is
 * another attempt of the same request, not the next turn of the script.
 */
function withoutCutAnswer(input: readonly unknown[]): readonly unknown[] {
  const last = input.findLastIndex((item) => !isSaid(item));
  return last === -1 ? input : input.slice(0, last + 1);
}

function isSaid(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const { type = 'message', role }: { type?: unknown; role?: unknown } = item;
  return type === 'reasoning' || (type === 'message' && role === 'assistant');
}

function readToolList(value: unknown): unknown[] {
  return readList(value, 'tools', { max: limits.messagesMax });
}

/** Reads the user id, which only distinguishes callers, so that any other value is accepted too. Codex sends the id of its thread. */
function readUserId(fields: Fields): string {
  const id = fields['prompt_cache_key'] ?? fields['safety_identifier'] ?? fields['user'];
  return typeof id === 'string' ? id : '';
}
