import { cutText } from '@fleetloom/protocol/fleet';
import { limits } from '../../base/limits.ts';
import type { Block, StepUsage } from '../step.ts';
import { toCount, toObject, toText } from '../transcript-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The texts of a list of parts. Encrypted messages between agents are not texts. */
export function toTexts(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((part) => toText(toObject(part)['text']) ?? []);
}

/** A tool call; undefined without an id or a name. A plain text input becomes the field `input`. */
export function toCall(payload: Fields): { call_id: string; name: string; input: unknown } | undefined {
  const [callId, name, namespace] = ['call_id', 'name', 'namespace'].map((field) => toText(payload[field]));
  if (callId === undefined || name === undefined || callId.length > limits.importNameCharsMax) return undefined;
  const fullName = namespace === undefined ? name : `${namespace}.${name}`;
  const input = payload['type'] === 'function_call' ? parse(payload['arguments']) : { input: payload['input'] ?? '' };
  return { call_id: callId, name: cutText(fullName, limits.importNameCharsMax), input };
}

/** The output of a tool call as blocks. Images become the text `[image]`, because the files contain only their URLs. */
export function toOutput(output: unknown): Block[] {
  if (typeof output === 'string') return output === '' ? [] : [{ type: 'text', text: output }];
  if (!Array.isArray(output)) return [];
  return output.flatMap((value) => {
    const part = toObject(value);
    const text = toText(part['text']) ?? (part['type'] === 'input_image' ? '[image]' : undefined);
    return text === undefined ? [] : [{ type: 'text', text }];
  });
}

/** Converts token usage. Codex counts cached tokens as input too, so they are subtracted. */
export function toUsage(usage: Fields): StepUsage {
  const [input, read, written, output] = [
    'input_tokens',
    'cached_input_tokens',
    'cache_write_input_tokens',
    'output_tokens',
  ].map((field) => toCount(usage[field])) as [number, number, number, number];
  return {
    input_tokens: Math.max(0, input - read - written),
    output_tokens: output,
    cache_read_input_tokens: read,
    cache_creation_5m_input_tokens: written,
    cache_creation_1h_input_tokens: 0,
  };
}

function parse(json: unknown): unknown {
  try {
    return JSON.parse(toText(json) ?? '{}');
  } catch {
    return { arguments: json };
  }
}
