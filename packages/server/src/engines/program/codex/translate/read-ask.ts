import { isDeepStrictEqual } from 'node:util';
import { nameIn, record, text, toJson } from '../../lines/values.ts';
import type { ProgramAsk } from '../../program.ts';
import type { ToolChoice } from '../../tool-choices.ts';
import type { Fields, RequestId } from '../../lines/json-rpc-line.ts';
import type { OpenCall, ThreadFold } from './thread-fold.ts';
import type { Ask, AskKind } from '../approvals/asks.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';

/** A request of the program, the choice of the definition, and the event for a person who has to answer. */
export interface FoundAsk {
  readonly ask: Ask;
  readonly choice: ToolChoice;
  /** The event of the ask. Null: the event of the call already shows that a client has to send its result. */
  readonly event: ProgramAsk | null;
}

interface Request {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Fields;
}

/** Reads a request for an approval, an answer or a result. Null if the request is unknown or people cannot answer it. */
export function readAsk(fold: ThreadFold, request: Request): FoundAsk | null {
  switch (request.method) {
    case 'item/commandExecution/requestApproval':
    case 'item/fileChange/requestApproval':
      return readCallAsk(fold, request);
    case 'mcpServer/elicitation/request':
      return readMcpAsk(fold, request);
    case 'item/permissions/requestApproval':
      return readPermissionsAsk(fold, request);
    case 'item/tool/requestUserInput':
      return readQuestion(fold, request);
    case 'item/tool/call':
      return readToolCall(fold, request);
    default:
      return null;
  }
}

/** Reads the ask of a command or a patch. One command may cause several asks, for its parts: each further ask becomes a call of its own. */
function readCallAsk(fold: ThreadFold, request: Request): FoundAsk {
  const { params } = request;
  const itemId = nameIn(params['itemId']) ?? '';
  const open = fold.callOf(itemId);
  const isCommand = request.method === 'item/commandExecution/requestApproval';
  const choice = isCommand ? fold.policy.command() : choiceOf(open, fold);
  const input = { command: toJson(params['command'] ?? null), cwd: toJson(params['cwd'] ?? null) };
  if (open !== undefined && !open.isAsked) {
    open.isAsked = true;
    return toFound(fold, request, { kind: 'call', callId: open.callId, isMadeUp: false }, choice, null);
  }
  const tool = { kind: 'builtin', permission: choice } as const;
  const callId = fold.addCall(itemId, { name: isCommand ? 'exec_command' : 'apply_patch', input, tool });
  return toFound(fold, request, { kind: 'call', callId, isMadeUp: true }, choice, input);
}

function choiceOf(open: OpenCall | undefined, { policy }: ThreadFold): ToolChoice {
  const changes: readonly unknown[] = Array.isArray(open?.item['changes']) ? open.item['changes'] : [];
  return policy.patch(changes.map((change) => ({ isNew: record(record(change)?.['kind'])?.['type'] === 'add' })));
}

/** Reads the ask of an MCP call. It does not have the id of the call, which is the newest open call with the same server and arguments. */
function readMcpAsk(fold: ThreadFold, request: Request): FoundAsk | null {
  const { params } = request;
  const meta = record(params['_meta']);
  // Other requests of MCP servers to people cannot be answered.
  if (meta?.['codex_approval_kind'] !== 'mcp_tool_call') return null;
  const server = text(params['serverName']) ?? '';
  const call = fold.openCalls.find(
    ({ item, isAsked }) =>
      !isAsked &&
      item['type'] === 'mcpToolCall' &&
      item['server'] === server &&
      isDeepStrictEqual(item['arguments'] ?? {}, meta['tool_params'] ?? {}),
  );
  if (call === undefined) return null;
  call.isAsked = true;
  const toolName = text(call.item['tool']) ?? '';
  const choice = server === TOOL_SERVER ? 'allow' : fold.policy.mcp(server, toolName);
  return toFound(fold, request, { kind: 'mcp', callId: call.callId, isMadeUp: false }, choice, null);
}

/** Reads a request for more permissions. No item describes it, and no definition covers it, so a person decides. */
function readPermissionsAsk(fold: ThreadFold, request: Request): FoundAsk {
  const input = { permissions: toJson(request.params['permissions']), cwd: toJson(request.params['cwd']) };
  const tool = { kind: 'builtin', permission: 'ask' } as const;
  const callId = fold.addCall(nameIn(request.params['itemId']) ?? '', { name: 'request_permissions', input, tool });
  return toFound(fold, request, { kind: 'permissions', callId, isMadeUp: true }, 'ask', input);
}

function readQuestion(fold: ThreadFold, request: Request): FoundAsk {
  const input = { questions: toJson(request.params['questions']) };
  const tool = { kind: 'custom', toolName: 'request_user_input', isQuestion: true } as const;
  const callId = fold.addCall(nameIn(request.params['itemId']) ?? '', { name: 'request_user_input', input, tool });
  const found = toFound(fold, request, { kind: 'question', callId, isMadeUp: true }, 'ask', input);
  return { ...found, event: { type: 'ask', callId, kind: 'question', reason: null, input } };
}

/** Reads the call of a tool that the client runs. Its item has the same id, and a result of its own. */
function readToolCall(fold: ThreadFold, request: Request): FoundAsk | null {
  const call = fold.callOf(nameIn(request.params['callId']) ?? '');
  if (call === undefined) return null;
  const found = toFound(fold, request, { kind: 'tool', callId: call.callId, isMadeUp: false }, 'ask', null);
  return { ...found, event: null };
}

function toFound(
  fold: ThreadFold,
  { id, params }: Request,
  about: { readonly kind: AskKind; readonly callId: string; readonly isMadeUp: boolean },
  choice: ToolChoice,
  input: ProgramAsk['input'],
): FoundAsk {
  const { permissions, questions } = params;
  const ask: Ask = {
    id,
    params: { permissions, questions },
    threadId: fold.threadId,
    turnId: fold.turnId ?? '',
    ...about,
  };
  const reason = text(params['reason']) ?? text(params['message']) ?? null;
  const shown = input ?? fold.inputOf(about.callId);
  return { ask, choice, event: { type: 'ask', callId: about.callId, kind: 'tool', reason, input: shown } };
}
