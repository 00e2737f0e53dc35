import type { AgentSnapshot, CustomTool } from '@fleetloom/protocol/managed-agents';
import type { ResultBlock } from '../../../base/content.ts';
import { isObject, type JsonObject } from '../../../base/json/json.ts';
import { text, toJson } from '../lines/values.ts';
import { TOOL_SERVER } from './server-names.ts';

/** The result of a call that a client runs. */
export interface ClientResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/** The custom tools of these agents. */
export function listCustomTools(agents: readonly Pick<AgentSnapshot, 'tools'>[]): readonly CustomTool[] {
  return agents.flatMap(({ tools }) => tools.filter((tool) => tool.type === 'custom'));
}

/** The messages of MCP that do not depend on the program: the initialisation and the list of tools. */
export class McpTools {
  readonly #tools: readonly CustomTool[];

  constructor(tools: readonly CustomTool[]) {
    // Two agents may have a tool of the same name: it has one entry, and the client that runs it knows the caller.
    this.#tools = [...new Map(tools.map((tool) => [tool.name, tool])).values()];
  }

  get isEmpty(): boolean {
    return this.#tools.length === 0;
  }

  /** Answers a message; undefined for a notification. `call` runs a tool. */
  async handle(
    message: JsonObject,
    call: (params: JsonObject) => Promise<ClientResult>,
  ): Promise<JsonObject | undefined> {
    const id = message['id'] ?? null;
    if (id === null) return undefined;
    const method = text(message['method']) ?? '';
    const params = isObject(message['params']) ? message['params'] : {};
    const result =
      method === 'tools/call' ? toMcpResult(await call(params)) : this.resultOf(method, params['protocolVersion']);
    if (result !== undefined) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, error: toUnknownMethod(method) };
  }

  /** The result of any method except `tools/call`; undefined for an unknown method. */
  resultOf(method: string, wantedVersion: unknown): JsonObject | undefined {
    if (method === 'initialize') {
      const protocolVersion = text(wantedVersion) ?? '2025-06-18';
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: TOOL_SERVER, version: '1' } };
    }
    if (method === 'tools/list') {
      const tools = this.#tools.map(({ name, description, input_schema: inputSchema }) => ({
        name,
        description,
        inputSchema: toJson(inputSchema),
      }));
      return { tools };
    }
    return method === 'ping' ? {} : undefined;
  }
}

/** The error for a method that the server does not have. */
export function toUnknownMethod(method: string | undefined): { readonly code: number; readonly message: string } {
  return { code: -32_601, message: `There is no ${method} here.` };
}

/** Converts the result of a tool to content of MCP. */
export function toMcpContent(content: readonly ResultBlock[]): (JsonObject & { readonly type: string })[] {
  return content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text };
    const { type, data, media_type: mimeType } = block.type === 'image' ? block.source : {};
    if (type === 'base64') return { type: 'image', data: data ?? '', mimeType: mimeType ?? '' };
    return { type: 'text', text: JSON.stringify(block) };
  });
}

function toMcpResult({ content, isError }: ClientResult): JsonObject {
  return { content: toMcpContent(content), isError };
}
