import { extractContent } from '@fleetloom/protocol/stream-json';
import type { TreeToolResult } from '@fleetloom/protocol/stream-json/tree';

/** The text of a result. Other content is shown by its type, so that an image does not look empty. */
export function resultText({ content, output }: TreeToolResult): string {
  if (!Array.isArray(content)) return output;
  return content.map((block: unknown) => extractContent([block]) || nameOf(block)).join('\n');
}

function nameOf(block: unknown): string {
  const type = (block as { type?: unknown } | null)?.type;
  return type === 'text' ? '' : `[${typeof type === 'string' ? type : 'unknown'}]`;
}
