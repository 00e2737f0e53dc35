import type { Block } from './step.ts';
import { toObject, toText } from './transcript-record.ts';

/** What a person said, as far as the server knows such blocks. */
export function toSaid(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block) => toShown(block, ['text', 'image', 'document']));
}

/** What a tool gave: a text, blocks, or nothing. */
export function toResult(content: unknown): Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((value) => {
    const block = toObject(value);
    const type = toText(block['type']);
    return type === undefined ? [] : toShown({ ...block, type }, ['text', 'image', 'document']);
  });
}

/** One block of an answer, calls aside. */
export function toAnswer(block: Block): Block | undefined {
  if (block.type === 'text') {
    const text = toText(block['text']);
    return text === undefined ? undefined : { type: 'text', text };
  }
  if (block.type === 'thinking') return { type: 'thinking', thinking: toText(block['thinking']) ?? '' };
  return { type: 'other', raw: block };
}

/** Kinds that the wire does not know are shown as what they are made of. */
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
