import { limits } from '../limits.ts';
import type { Block, StepUsage } from './step.ts';

/** A line of a session file, as far as we look at it. Everything in it may be missing or of another kind. */
export interface TranscriptRecord {
  readonly type: string;
  readonly time: string | undefined;
  /** Whether it belongs to a sub-agent. Old releases had those in the file of the main agent. */
  readonly isSidechain: boolean;
  /** Not said by anybody: notes of the program to its model. */
  readonly isMeta: boolean;
  readonly isSummary: boolean;
  readonly isError: boolean;
  readonly message: TranscriptMessage;
  readonly subtype: string | undefined;
  /** What the program knows of a result beside its text. */
  readonly result: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface TranscriptMessage {
  readonly id: string | undefined;
  readonly model: string | undefined;
  /** A text counts as one block. */
  readonly blocks: readonly Block[];
  readonly stopReason: string | null;
  readonly usage: StepUsage;
}

/** Undefined for what is no object with a type. */
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

export function toObject(value: unknown): Readonly<Record<string, unknown>> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}

export function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) || ms < 0 ? undefined : new Date(ms).toISOString();
}

function toCount(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}
