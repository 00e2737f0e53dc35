import type { Block } from './step.ts';
import { toObject, toText } from './transcript-record.ts';

/** The blocks of a user message that the server accepts. */
export function toSaid(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block) => toShown(block, ['text', 'image', 'document']));
}

/** The content of a tool result as blocks. */
export function toResult(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((value) => {
    const block = toObject(value);
    const type = toText(block['type']);
    return type === undefined ? [] : toShown({ ...block, type }, ['text', 'image', 'document']);
  });
}

/** One block of a model response, other than a tool call. */
export function toAnswer(block: Block): Block | undefined {
  if (block.type === 'text') {
    const text = toText(block['text']);
    return text === undefined ? undefined : { type: 'text', text };
  }
  if (block.type === 'thinking') return { type: 'thinking', thinking: toText(block['thinking']) ?? '' };
  return { type: 'other', raw: block };
}

/** Blocks of unknown types are shown as text. */
function toShown(block: Block, known: readonly string[]): Block[] {
  if (block.type === 'text') {
    const text = toText(block['text']);
    return text === undefined ? [] : [{ type: 'text', text }];
  }
  const source = toObject(block['source']);
  const isPlain = source['type'] === 'base64' && typeof source['data'] === 'string' && toText(source['media_type']);
  if (known.includes(block.type) && isPlain) {
    const { type, data, media_type } = source;
    return [{ type: block.type, source: { type, data, media_type } }];
  }
  return [{ type: 'text', text: JSON.stringify(block) }];
}
