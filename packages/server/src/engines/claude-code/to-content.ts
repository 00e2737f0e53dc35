import type { createMessage, WireBlock } from '@fleetloom/protocol/stream-json';
import type { InputBlock, ResultBlock } from '../../base/content.ts';
import { record, text } from './values.ts';

/** The result of a call as the program prints it: a text, blocks, or nothing. */
export function toResultBlocks(content: unknown): ResultBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((value): ResultBlock[] => {
    const block = record(value);
    if (block === undefined) return [];
    if (block['type'] === 'text') return [{ type: 'text', text: text(block['text']) ?? '' }];
    // The wire has the same words for these.
    if (block['type'] === 'image' || block['type'] === 'document') return [block as unknown as InputBlock];
    return [{ type: 'text', text: JSON.stringify(block) }];
  });
}

/** What is said to the program: blocks of the Messages API, which it passes on. */
export function toWireBlocks(content: readonly InputBlock[]): WireBlock[] {
  return content.map((block) => ({ ...block }));
}

/** The result of a tool that we serve, in the words of MCP. */
export function toMcpContent(content: readonly ResultBlock[]): McpContent {
  return content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    const { type, data, media_type: mimeType } = block.type === 'image' ? block.source : {};
    if (type === 'base64') return { type: 'image', data, mimeType };
    return { type: 'text', text: JSON.stringify(block) };
  });
}

type McpContent = Exclude<Parameters<typeof createMessage.toolResult>[1], string>;

/** The text of a result. */
export function toPlainText(content: readonly ResultBlock[]): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
