import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { ResultBlock } from '../../base/content.ts';
import type { ToolResult } from '../tool.ts';

/** What an MCP tool answered, in blocks of the Messages API. What has no such block is described. */
export function toToolResult({ content, structuredContent, isError = false }: CallToolResult): ToolResult {
  const blocks = content.map((block) => toBlock(block));
  // Servers should repeat structured content as text. Some do not, and then this is all there is.
  const structured: ResultBlock[] =
    blocks.length === 0 && structuredContent !== undefined ? [toText(JSON.stringify(structuredContent))] : [];
  const all = [...blocks, ...structured];
  return { content: all.length === 0 ? [toText('(no output)')] : all, isError };
}

function toBlock(block: ContentBlock): ResultBlock {
  switch (block.type) {
    case 'text':
      return toText(block.text);
    case 'image':
      return toMedia(block.mimeType, block.data);
    case 'audio':
      return toText(`(audio of type ${block.mimeType}, which cannot be shown)`);
    case 'resource_link':
      return toText(`${block.title ?? block.name}: ${block.uri}`);
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return toText(`${resource.uri}\n\n${resource.text}`);
      return toMedia(resource.mimeType ?? '', resource.blob, resource.uri);
    }
    default:
      return toText('(content of a kind that cannot be shown)');
  }
}

function toMedia(mediaType: string, data: string, name = 'a file'): ResultBlock {
  const source = { type: 'base64', media_type: mediaType, data };
  if (IMAGE_TYPES.includes(mediaType)) return { type: 'image', source };
  if (mediaType === 'application/pdf') return { type: 'document', source };
  return toText(`(${name} of type ${mediaType === '' ? 'unknown' : mediaType}, which cannot be shown)`);
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function toText(text: string): ResultBlock {
  return { type: 'text', text };
}
