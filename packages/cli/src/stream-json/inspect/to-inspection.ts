import { createHash } from 'node:crypto';
import type { AgentTree, TreeItem, TreeThread, TreeToolResult, TreeTurn } from '@fleetloom/protocol/stream-json/tree';
import { limits } from '../../base/limits.ts';
import { resultText } from './result-text.ts';

/** A text, or its length and hash if it is too long for a listing. */
export type Inlined = string | { length: number; sha256: string };

/**
 * The tree as `inspect --json` prints it (SPEC C10). Deployed readers depend on this shape, so it is written out here,
 * independent of the tree of the library.
 */
export function toInspection(tree: AgentTree): object {
  return {
    sessionId: tree.sessionId,
    unreadableLines: tree.unreadableLines,
    threads: tree.threads.map(toThread),
    toolResults: tree.toolResults.map(toToolResult),
    turns: tree.turns.map(toTurn),
    permissions: tree.permissions.map(({ requestId, toolUseId, tool, thread, state }) => ({
      requestId,
      toolUseId,
      tool,
      thread,
      state,
    })),
  };
}

function toThread(thread: TreeThread): object {
  const isMain = thread.reportedStatus === undefined;
  return {
    key: thread.key,
    parent: thread.parent,
    depth: thread.depth,
    taskId: thread.taskId,
    type: thread.type,
    description: thread.description,
    prompt: inline(thread.prompt),
    ...(isMain
      ? {}
      : {
          status: thread.reportedStatus,
          runs: thread.runs.map(({ runId, toolUseId, status }) => ({ runId, toolUseId, status })),
        }),
    items: thread.items.map(toItem),
  };
}

function toItem(item: TreeItem): object {
  switch (item.kind) {
    case 'text':
    case 'thinking':
      return {
        kind: item.kind,
        ...messageIdOf(item),
        text: inline(item.text),
        ...(item.error === undefined ? {} : { error: item.error }),
        ...(item.aborted === undefined ? {} : { aborted: item.aborted }),
      };
    case 'tool_use':
      return { kind: item.kind, ...messageIdOf(item), id: item.id, name: item.name, input: item.input };
    case 'user_text':
      return { kind: item.kind, role: item.role, text: inline(item.text) };
    case 'user_image':
      return { kind: item.kind, role: item.role };
    case 'other':
      return { kind: item.type, ...messageIdOf(item), ...callOf(item.value) };
  }
}

function messageIdOf({ messageId }: { messageId?: string }): object {
  return messageId === undefined ? {} : { messageId };
}

/** Blocks such as `server_tool_use` are reported as tool calls. */
function callOf(value: unknown): object {
  const block = (value ?? {}) as { id?: unknown; name?: unknown; input?: unknown };
  return block.id === undefined ? {} : { id: block.id, name: block.name, input: block.input };
}

function toToolResult(result: TreeToolResult): object {
  return {
    toolUseId: result.toolUseId,
    isError: result.isError,
    shape: shapeOf(result),
    text: inline(resultText(result)),
  };
}

function shapeOf(result: TreeToolResult): 'string' | 'array' | 'null' | 'absent' | 'object' {
  if (!('content' in result) || result.content === undefined) return 'absent';
  if (result.content === null) return 'null';
  if (Array.isArray(result.content)) return 'array';
  return typeof result.content === 'string' ? 'string' : 'object';
}

function toTurn(turn: TreeTurn): object {
  if (turn.open) return { open: true };
  return {
    subtype: turn.subtype,
    isError: turn.isError,
    result: inline(turn.result),
    ...(turn.errors === undefined ? {} : { errors: turn.errors }),
    ...(turn.origin === undefined ? {} : { origin: turn.origin }),
  };
}

function inline<Text extends string | null>(text: Text): Text | Inlined {
  if (text === null || text.length <= limits.inlineCharsMax) return text;
  return { length: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}
