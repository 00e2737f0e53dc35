import { isObject, type Json } from '../../../../base/json/json.ts';
import type { ResultBlock } from '../../../../base/content.ts';
import { number, record, records, text, toJson } from '../../lines/values.ts';
import type { ProgramCall } from '../../program.ts';
import { TOOL_SERVER } from '../../mcp/server-names.ts';
import { type CallPolicy, SEARCH, toBuiltin } from '../approvals/call-policy.ts';
import type { Fields } from '../../lines/json-rpc-line.ts';
import { unwrapShell } from './unwrap-shell.ts';

/** A call as its item describes it. */
export type CallFacts = Pick<ProgramCall, 'name' | 'input' | 'tool'>;

/** The call of an item; null if the item is not a call. An item of an unknown type is a call if it has a status. */
export function toCall(item: Fields, policy: CallPolicy): CallFacts | null {
  const type = text(item['type']) ?? '';
  switch (type) {
    case 'commandExecution': {
      const input = { command: unwrapShell(text(item['command']) ?? ''), cwd: toJson(item['cwd']) };
      return { name: 'exec_command', input, tool: toBuiltin(policy.command()) };
    }
    case 'fileChange': {
      const changes = readChanges(item);
      return { name: 'apply_patch', input: toJson({ changes }), tool: toBuiltin(policy.patch(changes.map(toPatch))) };
    }
    case 'mcpToolCall':
      return toMcpCall(item, policy);
    case 'dynamicToolCall': {
      const toolName = text(item['tool']) ?? '';
      return { name: toolName, input: toJson(item['arguments']), tool: { kind: 'custom', toolName } };
    }
    case 'collabAgentToolCall':
      return toAgentCall(item);
    case 'webSearch': {
      const input = { query: toJson(item['query']), action: toJson(item['action']) };
      return { name: SEARCH, input, tool: toBuiltin('allow') };
    }
    case 'imageView':
      return { name: 'view_image', input: { path: toJson(item['path']) }, tool: toBuiltin(policy.image()) };
    default:
      if (NOT_CALLS.has(type) || text(item['status']) === undefined) return null;
      return { name: type, input: toInput(item), tool: toBuiltin('allow') };
  }
}

/** Types of items that are not calls. */
const NOT_CALLS: ReadonlySet<string> = new Set([
  'userMessage',
  'agentMessage',
  'reasoning',
  'contextCompaction',
  'subAgentActivity',
  'plan',
]);

/** The result of a call whose item is complete. */
export function toResult(item: Fields): { readonly content: readonly ResultBlock[]; readonly isError: boolean } {
  const status = text(item['status']) ?? 'completed';
  const isError = status !== 'completed' || item['success'] === false;
  return { content: toContent(item, status), isError };
}

function toContent(item: Fields, status: string): readonly ResultBlock[] {
  switch (item['type']) {
    case 'commandExecution':
      return toTexts(toOutput(item, status));
    case 'fileChange':
      return toTexts(readChanges(item).map(({ kind, path }) => `${status === 'completed' ? kind : status} ${path}`));
    case 'mcpToolCall': {
      const failure = text(record(item['error'])?.['message']);
      return failure === undefined ? records(record(item['result'])?.['content']).map(toBlock) : toTexts([failure]);
    }
    case 'dynamicToolCall':
      return records(item['contentItems']).map(toBlock);
    case 'collabAgentToolCall':
      return toTexts([JSON.stringify(record(item['agentsStates']) ?? {})]);
    default:
      return [];
  }
}

/** The output of a command, with its exit code if the command failed. */
function toOutput(item: Fields, status: string): string[] {
  const output = text(item['aggregatedOutput']);
  const exitCode = number(item['exitCode']);
  const isFailed = status === 'failed' && exitCode !== undefined && exitCode !== 0;
  return [...(output === undefined ? [] : [output]), ...(isFailed ? [`Exit code ${exitCode}`] : [])];
}

function toTexts(lines: readonly string[]): ResultBlock[] {
  const joined = lines.map((line, at) => (at < lines.length - 1 && !line.endsWith('\n') ? `${line}\n` : line)).join('');
  return joined === '' ? [] : [{ type: 'text', text: joined }];
}

/** Converts a content block of MCP or of a dynamic tool. */
function toBlock(block: Fields): ResultBlock {
  const said = text(block['text']);
  if (said !== undefined) return { type: 'text', text: said };
  const [data, mediaType, url] = [text(block['data']), text(block['mimeType']), text(block['imageUrl'])];
  if (block['type'] === 'image' && data !== undefined && mediaType !== undefined) {
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
  }
  if (url !== undefined) return { type: 'image', source: { type: 'url', url } };
  return { type: 'text', text: JSON.stringify(block) };
}

function toMcpCall(item: Fields, policy: CallPolicy): CallFacts {
  const [serverName, toolName] = [text(item['server']) ?? '', text(item['tool']) ?? ''];
  const input = toJson(item['arguments']);
  if (serverName === TOOL_SERVER) return { name: toolName, input, tool: { kind: 'custom', toolName } };
  const permission = policy.mcp(serverName, toolName);
  const name = `${serverName}__${toolName}`;
  if (permission === 'deny') return { name, input, tool: toBuiltin('deny') };
  return { name, input, tool: { kind: 'mcp', permission, serverName, toolName } };
}

/** Calls of the multi-agent tools, by the names that the model calls them with. */
const agentTools: { readonly [tool: string]: string | undefined } = {
  spawnAgent: 'spawn_agent',
  wait: 'wait_agent',
  sendInput: 'send_input',
  resumeAgent: 'resume_agent',
  closeAgent: 'close_agent',
};

function toAgentCall(item: Fields): CallFacts {
  const tool = text(item['tool']) ?? '';
  const name = agentTools[tool] ?? tool;
  const prompt = text(item['prompt']);
  const targets = item['receiverThreadIds'];
  const isNaming = Array.isArray(targets) && targets.length > 0;
  const input = {
    ...(prompt === undefined ? {} : { message: prompt }),
    ...(isNaming ? { targets: toJson(targets) } : {}),
  };
  return { name, input, tool: tool === 'spawnAgent' ? { kind: 'agent' } : toBuiltin('allow') };
}

interface FileChange {
  readonly path: string;
  readonly kind: string;
  readonly diff: string;
}

function readChanges(item: Fields): FileChange[] {
  return records(item['changes']).map((change) => ({
    path: text(change['path']) ?? '',
    kind: text(record(change['kind'])?.['type']) ?? text(change['kind']) ?? 'update',
    diff: text(change['diff']) ?? '',
  }));
}

function toPatch({ kind }: FileChange): { readonly isNew: boolean } {
  return { isNew: kind === 'add' };
}

/** The input of a call of an unknown type: all fields that are not common to items. */
function toInput(item: Fields): Json {
  const all = toJson(item);
  if (!isObject(all)) return {};
  const { type: _type, id: _id, status: _status, startedAtMs: _start, completedAtMs: _end, ...rest } = all;
  return rest;
}
