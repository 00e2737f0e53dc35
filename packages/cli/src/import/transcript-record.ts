import { isObject } from '../base/is-object.ts';
import { limits } from '../base/limits.ts';
import type { Block, StepUsage } from './step.ts';

/** The parsed fields of a line of a session file. Every field of the file may be missing or of another type. */
export interface TranscriptRecord {
  readonly type: string;
  readonly time: string | undefined;
  /** Whether the line belongs to a sub-agent. Old releases write lines of sub-agents to the file of the main agent. */
  readonly isSidechain: boolean;
  /** Whether the line is a note of the program to its model, not a message. */
  readonly isMeta: boolean;
  readonly isSummary: boolean;
  readonly isError: boolean;
  readonly message: TranscriptMessage;
  readonly subtype: string | undefined;
  /** Structured data of a tool result. */
  readonly result: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The message of a transcript line, with missing fields filled in. */
export interface TranscriptMessage {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** A text counts as one block. */
  readonly blocks: readonly Block[];
  readonly stopReason: string | null;
  readonly usage: StepUsage;
}

/** Reads a parsed line; undefined for a value that is not an object with a type. */
export function readRecord(value: unknown): TranscriptRecord | undefined {
  const fields = toObject(value);
  const type = toText(fields['type']);
  if (type === undefined) return undefined;
  return {
    type,
    time: toTime(fields['timestamp']),
    isSidechain: fields['isSidechain'] === true,
    isMeta: fields['isMeta'] === true,
    isSummary: fields['isCompactSummary'] === true,
    isError: fields['isApiErrorMessage'] === true,
    message: readMessage(toObject(fields['message'])),
    subtype: toText(fields['subtype']),
    result: toObject(fields['toolUseResult']),
    fields,
  };
}

function readMessage(message: Readonly<Record<string, unknown>>): TranscriptMessage {
  const { content } = message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return {
    id: toText(message['id']),
    model: toText(message['model'])?.slice(0, limits.importNameCharsMax),
    blocks: Array.isArray(blocks) ? blocks.filter(isBlock) : [],
    stopReason: toText(message['stop_reason']) ?? null,
    usage: readUsage(toObject(message['usage'])),
  };
}

function readUsage(usage: Readonly<Record<string, unknown>>): StepUsage {
  const hour = toCount(toObject(usage['cache_creation'])['ephemeral_1h_input_tokens']);
  return {
    input_tokens: toCount(usage['input_tokens']),
    output_tokens: toCount(usage['output_tokens']),
    cache_read_input_tokens: toCount(usage['cache_read_input_tokens']),
    cache_creation_5m_input_tokens: Math.max(0, toCount(usage['cache_creation_input_tokens']) - hour),
    cache_creation_1h_input_tokens: hour,
  };
}

function isBlock(value: unknown): value is Block {
  return typeof toObject(value)['type'] === 'string';
}

/** The value if it is an object, otherwise an empty one. */
export function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** The value if it is a string that is not empty. */
export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) || ms < 0 ? undefined : new Date(ms).toISOString();
}

/** The value if it is a positive whole number, otherwise 0. */
export function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
