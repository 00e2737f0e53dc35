import { isObject, type Json, type JsonObject } from '../../../base/json/json.ts';
import type { Usage } from '../../model/engine.ts';
import { addUsage } from '../../model/usage.ts';
import type { AnswerEvent } from './events.ts';

/**
 * Converts the events of a streamed Messages response to gateway events. It keeps no text, and skips unknown events: the
 * program receives all of them anyway, and the lines that it prints decide the content.
 */
export class AnswerReader {
  messageId: string | null = null;
  model: string | null = null;
  #usage: Usage | null = null;

  /** Reads one event of the stream. `data` is its data field. */
  read(data: string): readonly AnswerEvent[] {
    const event = parse(data);
    switch (event['type']) {
      case 'message_start':
        return this.#begin(event);
      case 'content_block_start':
        return startBlock(event);
      case 'content_block_delta':
        return grow(event);
      case 'content_block_stop':
        return isIndex(event['index']) ? [{ type: 'block_stopped', index: event['index'] }] : [];
      case 'message_delta':
        return this.#count(event);
      case 'message_stop':
        return [{ type: 'finished' }];
      case 'error':
        return [{ type: 'failed', failure: { reason: 'broken', status: null, message: readMessage(event) } }];
      default:
        return [];
    }
  }

  #begin({ message }: JsonObject): readonly AnswerEvent[] {
    const { id, model, usage } = toObject(message);
    this.messageId = typeof id === 'string' ? id : null;
    this.model = typeof model === 'string' ? model : null;
    this.#usage = addUsage(this.#usage, usage);
    return [{ type: 'begun', usage: this.#usage }];
  }

  #count({ delta, usage }: JsonObject): readonly AnswerEvent[] {
    this.#usage = addUsage(this.#usage, usage);
    const { stop_reason: reason } = toObject(delta);
    return [{ type: 'usage', usage: this.#usage, stopReason: typeof reason === 'string' ? reason : null }];
  }
}

function startBlock({ index, content_block: start }: JsonObject): readonly AnswerEvent[] {
  if (!isIndex(index)) return [];
  const { type, id, name, text, thinking } = toObject(start);
  const block = kinds.get(toText(type)) ?? 'other';
  const call = block === 'tool_use' ? { id: toText(id), name: toText(name) } : null;
  // Some endpoints send the first piece with the start of the block.
  return [{ type: 'block_started', index, block, call }, ...toDelta(index, toText(text) || toText(thinking))];
}

const kinds: ReadonlyMap<string, 'text' | 'thinking' | 'tool_use'> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['tool_use', 'tool_use'],
]);

function grow({ index, delta }: JsonObject): readonly AnswerEvent[] {
  if (!isIndex(index)) return [];
  const { type, text, thinking, partial_json: json } = toObject(delta);
  if (type === 'text_delta') return toDelta(index, toText(text));
  if (type === 'thinking_delta') return toDelta(index, toText(thinking));
  return type === 'input_json_delta' ? toDelta(index, toText(json)) : [];
}

function toDelta(index: number, text: string): readonly AnswerEvent[] {
  return text === '' ? [] : [{ type: 'delta', index, text }];
}

function readMessage({ error }: JsonObject): string {
  return toText(toObject(error)['message']) || 'the endpoint broke off its answer';
}

function parse(data: string): JsonObject {
  try {
    // The cast: JSON.parse returns JSON, although its type is `any`.
    return toObject(JSON.parse(data) as Json);
  } catch {
    // Not valid JSON; the program reports it.
    return {};
  }
}

function isIndex(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function toObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
