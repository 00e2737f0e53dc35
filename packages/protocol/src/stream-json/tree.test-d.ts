import type { AgentEvent, TaskUsage, ThreadStatus } from '@fleetloom/protocol/stream-json';
import {
  type AgentTree,
  createTree,
  type EndedTurn,
  foldEvent,
  type GivenItem,
  type OpenTurn,
  type OtherItem,
  type TextItem,
  type ToolUseItem,
  type TreeItem,
  type TreePermission,
  type TreeRun,
  type TreeThread,
  type TreeToolResult,
  type TreeTurn,
} from '@fleetloom/protocol/stream-json/tree';
import { expectTypeOf } from 'vitest';

expectTypeOf(createTree).toEqualTypeOf<() => AgentTree>();
expectTypeOf(foldEvent).toEqualTypeOf<(tree: AgentTree, event: AgentEvent) => void>();

expectTypeOf<AgentTree>().toEqualTypeOf<{
  sessionId: string | null;
  unreadableLines: number;
  threads: TreeThread[];
  toolResults: TreeToolResult[];
  turns: TreeTurn[];
  permissions: TreePermission[];
}>();
expectTypeOf<TreeThread>().toEqualTypeOf<{
  key: string;
  streamId: number;
  parent: string | null;
  depth: number;
  taskId: string | null;
  type: string | null;
  description: string | null;
  prompt: string | null;
  status?: ThreadStatus;
  reportedStatus?: ThreadStatus;
  runs: TreeRun[];
  items: TreeItem[];
  usage?: TaskUsage;
  progress?: string;
}>();
expectTypeOf<TreeRun>().toEqualTypeOf<{ runId: string | null; toolUseId: string | null; status: ThreadStatus }>();
expectTypeOf<TreeToolResult>().toEqualTypeOf<{
  toolUseId: string;
  isError: boolean;
  output: string;
  content?: unknown;
}>();
expectTypeOf<TreePermission>().toEqualTypeOf<{
  requestId: string;
  toolUseId: string | null;
  tool: string;
  thread: string;
  state: 'asked' | 'withdrawn';
}>();

// Items are distinguished by their kind, and these are all.

expectTypeOf<TreeItem>().toEqualTypeOf<TextItem | ToolUseItem | GivenItem | OtherItem>();
expectTypeOf<TextItem>().toEqualTypeOf<{
  kind: 'text' | 'thinking';
  messageId?: string;
  text: string;
  error?: string;
  aborted?: true;
}>();
expectTypeOf<ToolUseItem>().toEqualTypeOf<{
  kind: 'tool_use';
  messageId?: string;
  id: string;
  name: string;
  input: unknown;
}>();
expectTypeOf<GivenItem>().toEqualTypeOf<{ kind: 'user_text' | 'user_image'; role: string; text: string }>();
expectTypeOf<OtherItem>().toEqualTypeOf<{ kind: 'other'; type: string; messageId?: string; value: unknown }>();

export function narrows(item: TreeItem): string {
  // @ts-expect-error: a call has no text
  void item.text;
  switch (item.kind) {
    case 'text':
    case 'thinking':
    case 'user_text':
    case 'user_image':
      return item.text;
    case 'tool_use':
      return item.name;
    case 'other':
      return item.type;
    default:
      return item satisfies never;
  }
}

// A turn is open or ended, and only an ended one has a result.

expectTypeOf<TreeTurn>().toEqualTypeOf<OpenTurn | EndedTurn>();
expectTypeOf<OpenTurn>().toEqualTypeOf<{ open: true }>();

export function resultOf(turn: TreeTurn): string | null {
  // @ts-expect-error: it may still be open
  void turn.result;
  if (turn.open) {
    expectTypeOf(turn).toEqualTypeOf<OpenTurn>();
    return null;
  }
  expectTypeOf(turn).toEqualTypeOf<EndedTurn>();
  return turn.result;
}

const ended: EndedTurn = { subtype: 'success', isError: false, result: 'done' };
export const turns: TreeTurn[] = [
  { open: true },
  ended,
  // @ts-expect-error: absent, not undefined
  { ...ended, origin: undefined },
  // @ts-expect-error: a turn that has not ended is open, not merely without result
  { subtype: null, isError: false },
];
