import type { Client } from '@modelcontextprotocol/client';
import { isObject, type Json, type JsonObject } from '../../base/json/json.ts';
import type { ToolLimits } from '../tool-limits.ts';
import type { Exchange } from './exchange.ts';
import { McpFault } from './mcp-fault.ts';

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/**
 * Lists the tools of a server, from all pages, up to a limit. The library could list them, but would print
 * names from the server to the operator's terminal.
 */
export async function listTools(client: Client, exchange: Exchange, limits: ToolLimits): Promise<readonly McpTool[]> {
  const { mcpListPagesMax, mcpToolsMax, mcpConnectMs: timeout } = limits;
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: McpTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < mcpListPagesMax; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const { nextCursor } = await client.request({ method: 'tools/list', params }, { signal: exchange.signal, timeout });
    const listed = exchange.take()['tools'];
    // Some servers ignore the cursor and return the same page again.
    if (cursor !== undefined && nextCursor === cursor) return tools;
    if (!Array.isArray(listed)) throw broken();
    for (const tool of listed.slice(0, mcpToolsMax - tools.length)) tools.push(toTool(tool, limits));
    cursor = nextCursor;
    if (cursor === undefined || tools.length >= mcpToolsMax) return tools;
  }
  throw new McpFault('limit', `the list of its tools has more than ${mcpListPagesMax} pages`);
}

/** Every model request contains the whole definition, so its size is limited. */
function toTool(tool: Json, { mcpToolBytesMax }: ToolLimits): McpTool {
  if (!isObject(tool)) throw broken();
  const { name, title = '', description = title, inputSchema } = tool;
  if (typeof name !== 'string' || typeof description !== 'string' || !isObject(inputSchema)) throw broken();
  if (inputSchema['type'] !== 'object') throw broken();
  const definition = { name, description, inputSchema };
  if (Buffer.byteLength(JSON.stringify(definition)) <= mcpToolBytesMax) return definition;
  throw new McpFault('limit', `the definition of a tool has more than ${mcpToolBytesMax} bytes`);
}

function broken(): McpFault {
  return new McpFault('broken', 'its list of tools does not follow the protocol');
}
