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
 * The body of `POST /v1/responses` to a conversation. Throws a {@link InvalidInput} where the real API would answer 400, with
 * paths spelt as there: `input[0].content[1].text`. Fields that do not matter to a script are not looked at.
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

/** Clients write null for what they do not set. */
function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** The scripted model keeps no conversations: a request that names one would be answered as if it had just begun. */
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
 * Codex keeps the finished items of a response that was cut, and sends them at the end of the input when it asks again. That is
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

/** Only distinguishes callers, so that any other value is accepted too. Codex sends the id of its thread. */
function readUserId(fields: Fields): string {
  const id = fields['prompt_cache_key'] ?? fields['safety_identifier'] ?? fields['user'];
  return typeof id === 'string' ? id : '';
}
