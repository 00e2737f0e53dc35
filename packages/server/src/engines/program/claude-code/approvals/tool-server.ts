import type { CustomTool } from '@fleetloom/protocol/managed-agents';
import { createMessage, type StreamJsonMessage } from '@fleetloom/protocol/stream-json';
import { type ClientResult, McpTools, toMcpContent, toUnknownMethod } from '../../mcp/mcp-tools.ts';
import { record, text } from '../../lines/values.ts';
import { calledBy } from '../lines/called-by.ts';

/**
 * The MCP server with the custom tools of the agents. The program reaches it through its own output and input, and sends
 * the id of the model's tool call with each call, so that the result can come from any client at any time.
 */
export class ToolServer {
  readonly #tools: McpTools;
  readonly #write: (line: string) => void;
  readonly #onAnswered: (callId: string) => void;
  /** Calls that wait for a result, and results that arrived before their call, by the id of the model's call. */
  readonly #calls = new Map<string, StreamJsonMessage>();
  readonly #results = new Map<string, ClientResult>();

  /** `onAnswered` is called when the result of a call was written to the program. */
  constructor(
    tools: readonly CustomTool[],
    write: (line: string) => void,
    onAnswered: (callId: string) => void = () => {},
  ) {
    this.#tools = new McpTools(tools);
    this.#write = write;
    this.#onAnswered = onAnswered;
  }

  get isEmpty(): boolean {
    return this.#tools.isEmpty;
  }

  /** Takes a `control_request` of kind `mcp_message`. */
  take(line: StreamJsonMessage): void {
    const message = record(record(line['request'])?.['message']);
    const method = text(message?.['method']);
    const params = record(message?.['params']);
    if (method === 'tools/call') return this.#call(line, calledBy(line));
    const id = (message?.['id'] ?? 0) as string | number;
    const response = { jsonrpc: '2.0' as const, id };
    // The program expects a response to notifications too.
    const isNotification = method?.startsWith('notifications/') === true;
    const result = isNotification ? {} : this.#tools.resultOf(method ?? '', params?.['protocolVersion']);
    const requestId = String(line['request_id']);
    const answer = result === undefined ? { error: toUnknownMethod(method) } : { result };
    this.#write(createMessage.mcpResponse(requestId, { ...response, ...answer }));
  }

  give(callId: string, result: ClientResult): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return void this.#results.set(callId, result);
    this.#calls.delete(callId);
    this.#write(createMessage.toolResult(call, toMcpContent(result.content), { isError: result.isError }));
    this.#onAnswered(callId);
  }

  /** Whether the program waits for the result of the call. */
  isWaiting(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Answers a call with an error because no transcript contains it, so that no client can answer it. */
  refuse(callId: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#calls.delete(callId);
    const problem = 'This call was not found in the transcript of its agent, so it cannot be answered.';
    this.#write(createMessage.toolResult(call, problem, { isError: true }));
  }

  /** Forgets a call that has a result, from any source. */
  forget(callId: string): void {
    this.#calls.delete(callId);
    this.#results.delete(callId);
  }

  #call(line: StreamJsonMessage, callId: string | undefined): void {
    if (callId === undefined) {
      const problem = 'The program did not send the id of this call, so it cannot be answered.';
      return this.#write(createMessage.toolResult(line, problem, { isError: true }));
    }
    this.#calls.set(callId, line);
    const result = this.#results.get(callId);
    if (result === undefined) return;
    this.#results.delete(callId);
    this.give(callId, result);
  }
}
