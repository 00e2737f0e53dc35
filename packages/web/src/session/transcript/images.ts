import type { MessageBlock, RedactedBlock, ResultBlock } from '@fleetloom/protocol/managed-agents';

type ContentBlock = MessageBlock | ResultBlock | RedactedBlock;

/**
 * The images in a content, as `data:` URLs. Only formats that cannot contain scripts or load anything; an image at a URL is named and
 * not loaded, because loading it would disclose the reader to its server.
 */
export function imagesOf(content: readonly ContentBlock[]): readonly string[] {
  return content.flatMap((block) => {
    const { source } = block.type === 'image' ? block : {};
    return source?.type === 'base64' && isShown(source.media_type, source.data)
      ? [`data:${source.media_type};base64,${source.data}`]
      : [];
  });
}

/** A block as text; a block without text is shown by its name. */
export function describeContent(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'search_result') return block.content.map(({ text }) => text).join('\n');
  if (block.type !== 'image') return `[${block.type}]`;
  const { source } = block;
  if (source.type === 'url') return `[image: ${source.url}]`;
  if (source.type === 'file') return `[image: file ${source.file_id}]`;
  return isShown(source.media_type, source.data) ? `[image]` : `[image: ${source.media_type}]`;
}

function isShown(type: string, data: string): boolean {
  return TYPES.has(type) && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}

const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
