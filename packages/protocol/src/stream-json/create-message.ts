import type { PermissionRequest } from './events.ts';
import type { StreamJsonMessage, WireBlock } from './messages.ts';

/**
 * Lines for Claude Code's stdin (`--input-format stream-json`), newline included.
 *
 * Requests that are given no `requestId` count up from `fleetloom-1`; the answer carries the id back. Ids have to be unique
 * within one program only. Use `messageBuilders` for a count of your own.
 *
 * @example
 * child.stdin.write(createMessage.user('Check the build.'));
 * if (event.type === 'permission_request') child.stdin.write(createMessage.approve(event));
 */
export const createMessage: MessageBuilders = /* @__PURE__ */ messageBuilders();

/** The builders with their own source of request ids. */
export function messageBuilders({ nextRequestId = counter('fleetloom') }: { nextRequestId?: () => string } = {}) {
  const request = (
    subtype: string,
    fields: Fields = {},
    { requestId = nextRequestId() }: RequestOptions = {},
  ): string =>
    toLine({ type: 'control_request', request_id: checkText(requestId, 'requestId'), request: { subtype, ...fields } });

  return {
    /** A prompt for the main agent; sub-agents cannot be addressed. With a `uuid` newer programs tell what became of it. */
    user: (content: string | WireBlock[], { uuid, sessionId }: { uuid?: string; sessionId?: string } = {}): string => {
      if (typeof content !== 'string' && !Array.isArray(content)) {
        throw new TypeError('user(content): pass a string or an array of content blocks');
      }
      const message = { role: 'user', content };
      // The official SDK writes both fields or none.
      const session = sessionId === undefined ? {} : { parent_tool_use_id: null, session_id: sessionId };
      return toLine({ type: 'user', message, ...session, uuid });
    },

    /** The first request of a session. Fields that are not named here are written as they are. */
    initialize: ({ requestId, ...fields }: InitializeFields & RequestOptions = {}): string => {
      return request('initialize', fields, given(requestId));
    },
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
    /** Any other request; the program answers one that it does not know with an error and goes on. */
    request,

    /** Lets a tool call run, with the input given here: the program demands one even where nothing changes. */
    allow: (requestId: string, fields: AllowFields): string =>
      answerAllow('allow', requestId, fields?.updatedInput, fields),
    /** Refuses a tool call; the model reads the message. */
    deny: (asked: string | Asked, fields: { message: string; interrupt?: boolean }): string => {
      const requestId = checkRequestId('deny', typeof asked === 'string' ? asked : checkAsked('deny', asked).requestId);
      if (typeof fields?.message !== 'string') {
        throw new TypeError('deny(request, { message }): the message is missing; the model reads it');
      }
      return answer('deny', requestId, { behavior: 'deny', message: fields.message, interrupt: fields.interrupt });
    },
    /** Lets the call of a `permission_request` event run, unchanged unless told otherwise. */
    approve: (asked: Asked, fields: Partial<AllowFields> = {}): string => {
      const { requestId, input } = checkAsked('approve', asked);
      return answerAllow('approve', requestId, fields.updatedInput ?? input, fields);
    },

    /** Answers a `hook_callback` request. */
    hookResponse: (requestId: string, output: Fields = { continue: true }): string =>
      answer('hookResponse', requestId, output),
    /** Answers an `mcp_message` request; notifications want an answer too, with any result. */
    mcpResponse: (requestId: string, response: JsonRpcResponse): string =>
      answer('mcpResponse', requestId, { mcp_response: response }),
    /**
     * The result of a tool that you serve yourself, given the `mcp_message` request that called it. For the program's own
     * tools there is no such answer: `deny` them with a message, or `allow` them with another input.
     */
    toolResult: (
      call: McpToolCall,
      content: string | McpContent[],
      { isError }: { isError?: boolean } = {},
    ): string => {
      const { requestId, id } = checkToolCall(call);
      const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
      return answer('toolResult', requestId, {
        mcp_response: { jsonrpc: '2.0', id, result: { content: parts, isError } },
      });
    },
    /** Answers any request of the program with a failure; a permission request is thereby denied. */
    answerError: (requestId: string, error: string): string => {
      const response = { subtype: 'error', request_id: checkRequestId('answerError', requestId), error };
      return toLine({ type: 'control_response', response });
    },

    keepAlive: (): string => toLine({ type: 'keep_alive' }),
    /** The documented name of `interrupt`. */
    abort: (options?: RequestOptions): string => request('interrupt', {}, options),
  };
}

export type MessageBuilders = ReturnType<typeof messageBuilders>;

export interface RequestOptions {
  requestId?: string;
}

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

/** What of a `permission_request` event is needed to answer it. */
export type Asked = Pick<PermissionRequest, 'requestId' | 'input'>;

export interface AllowFields {
  updatedInput: Record<string, unknown>;
  updatedPermissions?: unknown[];
}

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

function answerAllow(builder: string, requestId: string, input: unknown, fields: Partial<AllowFields>): string {
  const updatedInput = checkInput(input);
  return answer(builder, requestId, { behavior: 'allow', updatedInput, updatedPermissions: fields.updatedPermissions });
}

function answer(builder: string, requestId: string, response: Fields): string {
  const request_id = checkRequestId(builder, requestId);
  return toLine({ type: 'control_response', response: { subtype: 'success', request_id, response } });
}

/** JSON text has no raw newline, so that this is one line whatever is in it. */
function toLine(message: Fields): string {
  return `${JSON.stringify(message)}\n`;
}

function counter(prefix: string): () => string {
  let last = 0;
  return () => `${prefix}-${++last}`;
}

function given(requestId: string | undefined): RequestOptions {
  return requestId === undefined ? {} : { requestId };
}

// The program ignores an answer to an id that it does not know, and waits for ever. So what older documentation calls
// approve(toolUseId) and deny(toolUseId) has to fail here, in sight of the caller.
function checkRequestId(builder: string, requestId: unknown): string {
  if (typeof requestId === 'string' && requestId.startsWith('toolu_')) {
    throw new TypeError(`${builder}: ${requestId} is the id of a tool call; ${WHAT_TO_PASS}`);
  }
  return checkText(requestId, `${builder}: requestId`);
}

function checkAsked(builder: string, asked: unknown): Asked {
  if (typeof asked === 'object' && asked !== null && 'requestId' in asked && 'input' in asked) return asked as Asked;
  throw new TypeError(`${builder}: got ${JSON.stringify(asked)}; ${WHAT_TO_PASS}`);
}

const WHAT_TO_PASS = 'pass the permission_request event or its requestId';

function checkInput(input: unknown): object {
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input;
  throw new TypeError('updatedInput must be the input object that the tool is to run with');
}

function checkToolCall(call: McpToolCall): { requestId: string; id: unknown } {
  const request = call?.['request'] as { subtype?: unknown; message?: { method?: unknown; id?: unknown } } | undefined;
  if (request?.subtype !== 'mcp_message' || request.message?.method !== 'tools/call') {
    throw new TypeError(
      'toolResult(call, content): pass the control_request whose mcp_message calls the tool; ' +
        'for a tool that Claude Code runs itself use deny(request, { message })',
    );
  }
  return { requestId: checkText(call['request_id'], 'toolResult: request_id'), id: request.message.id };
}

function checkText(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new TypeError(`${name} must be a string that is not empty, got ${JSON.stringify(value)}`);
}
