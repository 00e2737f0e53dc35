import type { ResultBlock } from '../../base/content.ts';
import { isObject, type Json, type JsonObject } from '../../base/json/json.ts';
import type { ToolResult } from '../tool.ts';
import type { ToolLimits } from '../tool-limits.ts';
import { McpFault } from './mcp-fault.ts';

/** Converts the result of an MCP tool to blocks of the Messages API. Content without such a block is described as text. */
export function toToolResult(result: JsonObject, { mcpBlocksMax }: ToolLimits): ToolResult {
  const { content = [], structuredContent, isError = false, resultType = 'complete' } = result;
  if (resultType !== 'complete') throw new McpFault('broken', 'the server asks for more input, which is not supported');
  if (!Array.isArray(content) || typeof isError !== 'boolean') throw broken();
  if (content.length > mcpBlocksMax) throw new McpFault('limit', `the result has more than ${mcpBlocksMax} blocks`);
  const blocks = content.map((block) => toBlock(block));
  // Servers should repeat structured content as text. If a server does not, the structured content is used.
  const structured: ResultBlock[] =
    blocks.length === 0 && structuredContent !== undefined ? [toText(JSON.stringify(structuredContent))] : [];
  const all = [...blocks, ...structured];
  return { content: all.length === 0 ? [toText('(no output)')] : all, isError };
}

function toBlock(block: Json): ResultBlock {
  const { type, text, mimeType, data, uri, name, title, resource } = toFields(block);
  switch (type) {
    case 'text':
      return toText(toWord(text));
    case 'image':
      return toMedia(toWord(mimeType), toWord(data));
    case 'audio':
      return toText(`(audio of type ${toWord(mimeType)}, which cannot be shown)`);
    case 'resource_link':
      return toText(`${toWord(title ?? name)}: ${toWord(uri)}`);
    case 'resource':
      return toResource(toFields(resource));
    default:
      return toText('(content of a kind that cannot be shown)');
  }
}

function toResource({ uri, text, mimeType = '', blob }: JsonObject): ResultBlock {
  if (text !== undefined) return toText(`${toWord(uri)}\n\n${toWord(text)}`);
  return toMedia(toWord(mimeType), toWord(blob), toWord(uri));
}

function toMedia(mediaType: string, data: string, name = 'a file'): ResultBlock {
  const source = { type: 'base64', media_type: mediaType, data };
  const type = IMAGE_TYPES.includes(mediaType) ? 'image' : mediaType === 'application/pdf' ? 'document' : undefined;
  // The Messages API would reject invalid base64, and with it every later request of the session.
  if (type !== undefined && !BASE64.test(data))
    return toText(`(${name} of type ${mediaType} that is not valid base64)`);
  if (type !== undefined) return { type, source };
  return toText(`(${name} of type ${mediaType === '' ? 'unknown' : mediaType}, which cannot be shown)`);
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function toText(text: string): ResultBlock {
  return { type: 'text', text };
}

function toFields(value: Json | undefined): JsonObject {
  if (!isObject(value)) throw broken();
  return value;
}

function toWord(value: Json | undefined): string {
  if (typeof value !== 'string') throw broken();
  return value;
}

function broken(): McpFault {
  return new McpFault('broken', 'the result does not follow the protocol');
}
