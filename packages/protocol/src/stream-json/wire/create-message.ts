import { record } from '../base/check.ts';
import type { PermissionRequest } from './events.ts';
import type { StreamJsonMessage, WireBlock } from './messages.ts';

/**
 * Lines for Claude Code's stdin (`--input-format stream-json`), newline included.
 *
 * Requests without a `requestId` get a sequence number; the program's response has the same id.
 *
 * @example
 * child.stdin.write(createMessage.user('Check the build.'));
 * if (event.type === 'permission_request') child.stdin.write(createMessage.approve(event));
 */
export const createMessage = {
  /** A prompt for the main agent; sub-agents cannot be addressed. With a `uuid`, newer programs report what happened to it. */
  user: (content: string | WireBlock[], { uuid, sessionId }: { uuid?: string; sessionId?: string } = {}): string => {
    demand(typeof content === 'string' || Array.isArray(content), 'pass a string or an array of blocks');
    // The official SDK writes both fields or none.
    const session = sessionId === undefined ? {} : { parent_tool_use_id: null, session_id: sessionId };
    return toLine({ type: 'user', message: { role: 'user', content }, ...session, uuid });
  },

  /** The first request of a session. Fields that are not named here are written as they are. */
  initialize: ({ requestId, ...fields }: InitializeFields & RequestOptions = {}): string =>
    request('initialize', fields, { requestId }),
  interrupt: (options?: RequestOptions): string => request('interrupt', {}, options),
  setModel: (model: string, options?: RequestOptions): string => request('set_model', { model }, options),
  setPermissionMode: (mode: string, options?: RequestOptions): string =>
    request('set_permission_mode', { mode }, options),
  stopTask: (taskId: string, options?: RequestOptions): string => request('stop_task', { task_id: taskId }, options),
  /** Sends the tasks that run in the foreground to the background. */
  backgroundTasks: (options?: RequestOptions): string => request('background_tasks', {}, options),
  getContextUsage: (options?: RequestOptions): string => request('get_context_usage', {}, options),
  getSessionCost: (options?: RequestOptions): string => request('get_session_cost', {}, options),
  mcpStatus: (options?: RequestOptions): string => request('mcp_status', {}, options),
  /** Any other request; the program answers an unknown one with an error and continues. */
  request,

  /** Lets a tool call run, with the input given here: the program demands one even where nothing changes. */
  allow: (requestId: string, { updatedInput, updatedPermissions }: AllowFields): string => {
    demand(record(updatedInput), 'updatedInput must be the input for the tool');
    return answer(requestId, { behavior: 'allow', updatedInput, updatedPermissions });
  },
  /** Lets the call of a `permission_request` event run, unchanged by default. */
  approve: (asked: Asked, fields: Partial<AllowFields> = {}): string =>
    createMessage.allow(requestIdOf(asked), { updatedInput: asked.input as Fields, ...fields }),
  /** Refuses a tool call; the model reads the message. */
  deny: (asked: string | Asked, fields: { message: string; interrupt?: boolean }): string => {
    const requestId = typeof asked === 'string' ? asked : requestIdOf(asked);
    demand(typeof fields?.message === 'string', 'the message is missing');
    return answer(requestId, { behavior: 'deny', message: fields.message, interrupt: fields.interrupt });
  },

  /** Answers a `hook_callback` request. */
  hookResponse: (requestId: string, output: Fields = { continue: true }): string => answer(requestId, output),
  /** Answers an `mcp_message` request; notifications want an answer too, with any result. */
  mcpResponse: (requestId: string, response: JsonRpcResponse): string => answer(requestId, { mcp_response: response }),
  /**
   * The result of a tool that you serve yourself, given the `mcp_message` request that called it. For the program's own
   * tools there is no such answer: `deny` them with a message, or `allow` them with another input.
   */
  toolResult: (call: McpToolCall, content: string | McpContent[], { isError }: { isError?: boolean } = {}): string => {
    // What a caller in JavaScript passes may be anything; the next line says so.
    const called = (call?.['request'] as { message?: { method?: unknown; id?: string } } | undefined)?.message;
    demand(called?.method === 'tools/call', 'pass an mcp_message request; for other tools use deny');
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const response = { jsonrpc: '2.0' as const, id: called?.id ?? null, result: { content: parts, isError } };
    return createMessage.mcpResponse(String(call['request_id']), response);
  },
  /** Answers any request of the program with a failure; a permission request is thereby denied. */
  answerError: (requestId: string, error: string): string =>
    toLine({ type: 'control_response', response: { subtype: 'error', request_id: checkId(requestId), error } }),

  keepAlive: (): string => toLine({ type: 'keep_alive' }),
  /** The documented name of `interrupt`. */
  abort: (options?: RequestOptions): string => request('interrupt', {}, options),
};

/** Options of a request. */
export interface RequestOptions {
  requestId?: string | undefined;
}

/** Fields of the `initialize` request. */
export interface InitializeFields {
  /** Without it sub-agents in the foreground print no text and no thinking. */
  forwardSubagentText?: boolean;
  forwardNestedSubagentToolCalls?: boolean;
  perTaskStopAffordance?: boolean;
  agents?: Record<string, { description: string; prompt: string; tools?: string[]; model?: string; maxTurns?: number }>;
  appendSystemPrompt?: string;
  hooks?: Record<string, { matcher?: string; hookCallbackIds: string[] }[]>;
  sdkMcpServers?: string[];
  [field: string]: unknown;
}

/** The fields of a `permission_request` event that are needed to answer it. */
export type Asked = Pick<PermissionRequest, 'requestId' | 'input'>;

/** Fields of an `allow` answer. */
export interface AllowFields {
  updatedInput: Record<string, unknown>;
  updatedPermissions?: unknown[];
}

/** A JSON-RPC response. */
export interface JsonRpcResponse {
  jsonrpc: '2.0';
  id: string | number | null;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** A `control_request` line with an `mcp_message` that calls a tool, as the program wrote it. */
export type McpToolCall = StreamJsonMessage;

/** A part of an MCP tool's result, e.g. `{ type: 'text', text: '…' }`. */
export interface McpContent {
  type: string;
  [field: string]: unknown;
}

type Fields = Record<string, unknown>;

/** The number of requests so far. Ids must be unique within one program only. */
let requests = 0;

function request(
  subtype: string,
  fields: Fields = {},
  { requestId = `fleetloom-${++requests}` }: RequestOptions = {},
): string {
  return toLine({ type: 'control_request', request_id: checkId(requestId), request: { subtype, ...fields } });
}

function answer(requestId: string, response: Fields): string {
  return toLine({
    type: 'control_response',
    response: { subtype: 'success', request_id: checkId(requestId), response },
  });
}

/** JSON text has no raw newline, so that this is one line whatever is in it. */
function toLine(message: Fields): string {
  return `${JSON.stringify(message)}\n`;
}

// The program ignores an answer to an id that it does not know, and waits forever. So what older documentation calls
// approve(toolUseId) and deny(toolUseId) has to fail here, in sight of the caller.
function checkId(requestId: string): string {
  demand(typeof requestId === 'string' && requestId !== '' && !requestId.startsWith('toolu_'), WHAT_TO_PASS);
  return requestId;
}

function requestIdOf(asked: Asked): string {
  demand(record(asked) && 'input' in asked, WHAT_TO_PASS);
  return asked.requestId;
}

const WHAT_TO_PASS = 'pass the permission_request event or its requestId, not the id of a tool call';

function demand(holds: unknown, what: string): void {
  if (!holds) throw new TypeError(`createMessage: ${what}`);
}
