import { createHash } from 'node:crypto';
import { extractContent } from '@fleetloom/protocol/stream-json';
import type { AgentTree, TreeItem, TreeThread } from '@fleetloom/protocol/stream-json/tree';

/** The tree in the shape of the recordings' expectation files. */
export function toInspection(tree: AgentTree): unknown {
  return {
    sessionId: tree.sessionId,
    unreadableLines: tree.unreadableLines,
    threads: tree.threads.map(thread),
    toolResults: tree.toolResults.map((result) => ({
      toolUseId: result.toolUseId,
      isError: result.isError,
      shape: shape(result),
      text: short(visible(result.content)),
    })),
    turns: tree.turns.map((turn) => {
      if (turn.open) return { open: true };
      const { subtype, isError, result, errors, origin } = turn;
      return { subtype, isError, result: short(result), ...(errors ? { errors } : {}), ...(origin ? { origin } : {}) };
    }),
    permissions: tree.permissions,
  };
}

function thread(t: TreeThread): unknown {
  const { key, parent, depth, taskId, type, description, prompt, runs } = t;
  const life = t.toldStatus === undefined ? {} : { status: t.toldStatus, runs };
  return { key, parent, depth, taskId, type, description, prompt: short(prompt), ...life, items: t.items.map(item) };
}

function item(i: TreeItem): unknown {
  switch (i.kind) {
    case 'user_text':
      return { ...i, text: short(i.text) };
    case 'user_image':
      return { kind: i.kind, role: i.role };
    case 'text':
    case 'thinking':
      return { ...i, text: short(i.text) };
    case 'tool_use':
      return i;
    case 'other': {
      const { type, messageId, value } = i;
      const { id, name, input } = value as Record<string, unknown>;
      return {
        kind: type,
        ...(messageId === undefined ? {} : { messageId }),
        ...(type === 'server_tool_use' ? { id, name, input } : {}),
      };
    }
  }
}

function shape(result: { content?: unknown }): string {
  if (!('content' in result)) return 'absent';
  if (result.content === null) return 'null';
  return Array.isArray(result.content) ? 'array' : typeof result.content;
}

/** The text of a result with every other part as its type in brackets. */
function visible(content: unknown): string {
  if (!Array.isArray(content)) return extractContent(content);
  return content.map((part) => (part?.type === 'text' ? part.text : `[${part?.type}]`)).join('\n');
}

function short(text: string | null): unknown {
  if (text === null || text.length <= 4000) return text;
  return { length: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}
