import { extractContent } from '@fleetloom/protocol/stream-json';
import type { TreeToolResult } from '@fleetloom/protocol/stream-json/tree';

/** The text parts; what is no text is named in its place, so that a result that is a picture does not look empty. */
export function resultText({ content, output }: TreeToolResult): string {
  if (!Array.isArray(content)) return output;
  return content.map((block: unknown) => extractContent([block]) || nameOf(block)).join('\n');
}

function nameOf(block: unknown): string {
  const type = (block as { type?: unknown } | null)?.type;
  return type === 'text' ? '' : `[${typeof type === 'string' ? type : 'unknown'}]`;
}
