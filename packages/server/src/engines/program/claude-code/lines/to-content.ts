import type { WireBlock } from '@fleetloom/protocol/stream-json';
import type { InputBlock, ResultBlock } from '../../../../base/content.ts';
import { record, text } from '../../lines/values.ts';

/** The result of a call as the program prints it: a text, blocks, or nothing. */
export function toResultBlocks(content: unknown): ResultBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((value): ResultBlock[] => {
    const block = record(value);
    if (block === undefined) return [];
    if (block['type'] === 'text') return [{ type: 'text', text: text(block['text']) ?? '' }];
    // The wire format of these blocks is the same.
    if (block['type'] === 'image' || block['type'] === 'document') return [block as unknown as InputBlock];
    return [{ type: 'text', text: JSON.stringify(block) }];
  });
}

/** Input for the program: blocks of the Messages API, which the program passes on. */
export function toWireBlocks(content: readonly InputBlock[]): WireBlock[] {
  return content.map((block) => ({ ...block }));
}

/** The text of a result. */
export function toPlainText(content: readonly ResultBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
