import type { CustomTool } from '@fleetloom/protocol/managed-agents';
import { createMessage, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import type { ResultBlock } from '../../base/content.ts';
import { toMcpContent } from './to-content.ts';
import { TOOL_SERVER } from './tool-policy.ts';
import { record, text } from './values.ts';

export interface CustomResult {
  readonly content: readonly ResultBlock[];
  readonly isError: boolean;
}

/**
 * The MCP server with the custom tools of the agents. The program reaches it through its own output and input, and says
 * with each call which call of the model it is, so that the result can come from anybody at any time.
 */
export class ToolServer {
  readonly #tools: readonly CustomTool[];
  readonly #write: (line: string) => void;
  /** Calls that wait, and results that came first, by the id of the model's call. */
  readonly #calls = new Map<string, StreamJsonMessage>();
  readonly #results = new Map<string, CustomResult>();

  constructor(tools: readonly CustomTool[], write: (line: string) => void) {
    // Two agents may have a tool of the same name: there is one entry, and whoever runs it knows who called.
    this.#tools = [...new Map(tools.map((tool) => [tool.name, tool])).values()];
    this.#write = write;
  }

  get isEmpty(): boolean {
    return this.#tools.length === 0;
  }

  /** A `control_request` of kind `mcp_message`. */
  take(line: StreamJsonMessage): void {
    const message = record(record(line['request'])?.['message']);
    const method = text(message?.['method']);
    const params = record(message?.['params']);
    if (method === 'tools/call') return this.#call(line, text(record(params?.['_meta'])?.['claudecode/toolUseId']));
    const id = (message?.['id'] ?? 0) as string | number;
    const response = { jsonrpc: '2.0' as const, id };
    const result = this.#resultOf(method, params);
    const requestId = String(line['request_id']);
    if (result !== undefined) this.#write(createMessage.mcpResponse(requestId, { ...response, result }));
    else {
      const error = { code: METHOD_NOT_FOUND, message: `There is no ${method} here.` };
      this.#write(createMessage.mcpResponse(requestId, { ...response, error }));
    }
  }

  give(callId: string, result: CustomResult): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return void this.#results.set(callId, result);
    this.#calls.delete(callId);
    this.#write(createMessage.toolResult(call, toMcpContent(result.content), { isError: result.isError }));
  }

  /** The call has a result, whoever gave it. */
  forget(callId: string): void {
    this.#calls.delete(callId);
    this.#results.delete(callId);
  }

  #call(line: StreamJsonMessage, callId: string | undefined): void {
    if (callId === undefined) {
      const problem = 'This program does not say which call this is, so nobody could answer it.';
      return this.#write(createMessage.toolResult(line, problem, { isError: true }));
    }
    this.#calls.set(callId, line);
    const result = this.#results.get(callId);
    if (result === undefined) return;
    this.#results.delete(callId);
    this.give(callId, result);
  }

  #resultOf(method: string | undefined, params: Record<string, unknown> | undefined): object | undefined {
    if (method === 'initialize') {
      const protocolVersion = text(params?.['protocolVersion']) ?? '2025-06-18';
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: TOOL_SERVER, version: '1' } };
    }
    if (method === 'tools/list') {
      const tools = this.#tools.map(({ name, description, input_schema: inputSchema }) => ({
        name,
        description,
        inputSchema,
      }));
      return { tools };
    }
    // Notifications want an answer too.
    return method === 'ping' || method?.startsWith('notifications/') ? {} : undefined;
  }
}

const METHOD_NOT_FOUND = -32_601;
