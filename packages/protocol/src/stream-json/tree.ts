import { text } from './base/check.ts';
import type { AgentEvent, BlockPlace, TaskUsage, ThreadFacts, ThreadStatus } from './wire/events.ts';

/** All agents of a stream with the input, text and tool calls of each. A plain value: read it, print it, keep it. */
export interface AgentTree {
  sessionId: string | null;
  /** Lines that could not be read, a cut-off last line included. */
  unreadableLines: number;
  /** The threads in the order of their first event, the main agent first. */
  threads: TreeThread[];
  toolResults: TreeToolResult[];
  /** The turns in the order in which they started. */
  turns: TreeTurn[];
  permissions: TreePermission[];
}

/** One agent. */
export interface TreeThread {
  key: string;
  streamId: number;
  parent: string | null;
  depth: number;
  taskId: string | null;
  type: string | null;
  description: string | null;
  prompt: string | null;
  /** Absent for the main agent, which has turns instead. */
  status?: ThreadStatus;
  /** The status as the wire reports it, without what is inferred from a call that returned. */
  reportedStatus?: ThreadStatus;
  runs: TreeRun[];
  items: TreeItem[];
  /** The usage of the agent, summed over its runs. */
  usage?: TaskUsage;
  /** The last reported activity. */
  progress?: string;
}

/** One run of an agent. */
export interface TreeRun {
  runId: string | null;
  toolUseId: string | null;
  status: ThreadStatus;
}

/** One entry of an agent's history. */
export type TreeItem = TextItem | ToolUseItem | GivenItem | OtherItem;

/** Text or thinking. */
export interface TextItem {
  kind: 'text' | 'thinking';
  messageId?: string;
  text: string;
  error?: string;
  aborted?: true;
}

/** A tool call. */
export interface ToolUseItem {
  kind: 'tool_use';
  messageId?: string;
  id: string;
  name: string;
  input: unknown;
}

/** Input of the agent. */
export interface GivenItem {
  kind: 'user_text' | 'user_image';
  role: string;
  text: string;
}

/** A block of a kind that the library does not interpret. */
export interface OtherItem {
  kind: 'other';
  /** The wire's block type. */
  type: string;
  messageId?: string;
  value: unknown;
}

/** The result of a tool call. */
export interface TreeToolResult {
  toolUseId: string;
  isError: boolean;
  output: string;
  /** The content as on the wire. */
  content?: unknown;
}

/** A turn of the main agent. */
export type TreeTurn = OpenTurn | EndedTurn;

/** A turn that has not ended. */
export interface OpenTurn {
  open: true;
}

/** A turn that has ended. */
export interface EndedTurn {
  open?: never;
  subtype: string | null;
  isError: boolean;
  result: string | null;
  errors?: string[];
  origin?: string;
  costUsd?: number;
  durationMs?: number;
}

/** A permission request. */
export interface TreePermission {
  requestId: string;
  toolUseId: string | null;
  tool: string;
  thread: string;
  state: 'asked' | 'withdrawn';
}

/** A tree of which only the main agent is known. */
export function createTree(): AgentTree {
  const main: TreeThread = {
    key: 'main',
    streamId: 0,
    parent: null,
    depth: 0,
    taskId: null,
    type: null,
    description: null,
    prompt: null,
    runs: [],
    items: [],
  };
  return { sessionId: null, unreadableLines: 0, threads: [main], toolResults: [], turns: [], permissions: [] };
}

/**
 * Adds one event to the tree, in place. Folding all events of a stream, in order, gives the whole of it.
 *
 * @example
 * const tree = createTree();
 * for await (const event of translateStream(stdout)) foldEvent(tree, event);
 */
export function foldEvent(tree: AgentTree, event: AgentEvent): void {
  const thread = threadOf(tree, event);
  thread.depth = event.depth;
  switch (event.type) {
    case 'session_meta':
      tree.sessionId = event.sessionId ?? tree.sessionId; // `/clear` changes it
      tree.turns.push({ open: true });
      break;
    case 'thread_start':
      learn(thread, event);
      break;
    case 'thread_update':
      if (event.sameAs === undefined) learn(thread, event);
      else mergeThreads(tree, thread, event.sameAs);
      break;
    case 'run_start':
      thread.runs.push({ runId: event.runId ?? null, toolUseId: event.toolUseId ?? null, status: 'running' });
      if (!event.late) thread.status = thread.reportedStatus = 'running';
      break;
    case 'thread_progress':
      if (event.description !== undefined && !event.late) thread.progress = event.description;
      break;
    case 'thread_status': {
      const run = event.run === undefined ? undefined : thread.runs[event.run];
      if (run) run.status = event.status;
      if (event.late) break;
      thread.status = event.status;
      if (event.source !== 'result') thread.reportedStatus = event.status;
      break;
    }
    case 'thread_report':
      if (event.usage) thread.usage = addUsage(thread.usage, event.usage);
      break;
    case 'prompt':
      if (event.role === 'prompt' && event.media === undefined) thread.prompt ??= event.content;
      thread.items.push({
        kind: event.media === undefined ? 'user_text' : 'user_image',
        role: event.role,
        text: event.content,
      });
      break;
    case 'text_delta':
    case 'thinking_delta':
      addText(thread, event);
      break;
    case 'tool_use':
      place(thread, event, { kind: 'tool_use', id: event.toolUseId, name: event.toolName, input: event.input });
      break;
    case 'replace':
      replaceItem(thread, event);
      break;
    case 'retract':
      place(thread, event, undefined);
      break;
    case 'block_aborted': {
      const item = itemAt(thread, event);
      if (item?.kind === 'text' || item?.kind === 'thinking') item.aborted = true;
      break;
    }
    case 'tool_result':
      tree.toolResults.push({
        toolUseId: event.toolUseId,
        isError: event.isError,
        output: event.output,
        ...('content' in event ? { content: event.content } : {}),
      });
      break;
    case 'permission_request':
      tree.permissions.push({
        requestId: event.requestId,
        toolUseId: event.toolUseId ?? null,
        tool: event.toolName,
        thread: event.thread,
        state: 'asked',
      });
      break;
    case 'permission_withdrawn': {
      const request = tree.permissions.find((permission) => permission.requestId === event.requestId);
      if (request) request.state = 'withdrawn';
      break;
    }
    case 'turn_complete':
      endTurn(tree, event);
      break;
    case 'raw':
      if (event.block !== undefined) {
        place(thread, event as BlockPlace, {
          kind: 'other',
          type: event.kind.slice('block/'.length),
          value: event.value,
        });
      }
      break;
    case 'unreadable':
      tree.unreadableLines++;
      break;
    case 'tool_use_start':
    case 'tool_input_delta':
    case 'error':
    case 'gap':
      break; // repeated whole by a later event, or not part of the tree
  }
}

/** Places of items, per thread: not part of the tree's value, so that it stays plain data. */
const placesOf = new WeakMap<TreeThread, Map<string, TreeItem>>();
/** Threads by key, so that a stream with thousands of agents folds in linear time. */
const threadsOf = new WeakMap<AgentTree, Map<string, TreeThread>>();

function threadsByKey(tree: AgentTree): Map<string, TreeThread> {
  let byKey = threadsOf.get(tree);
  if (!byKey) {
    byKey = new Map(tree.threads.map((thread) => [thread.key, thread]));
    threadsOf.set(tree, byKey);
  }
  return byKey;
}

function threadOf(tree: AgentTree, event: AgentEvent): TreeThread {
  const byKey = threadsByKey(tree);
  let thread = byKey.get(event.thread);
  if (!thread) {
    thread = {
      key: event.thread,
      streamId: event.stream_id,
      parent: null,
      depth: event.depth,
      taskId: null,
      type: null,
      description: null,
      prompt: null,
      status: 'running',
      reportedStatus: 'running',
      runs: [],
      items: [],
    };
    tree.threads.push(thread);
    byKey.set(thread.key, thread);
  }
  return thread;
}

function learn(thread: TreeThread, facts: Partial<ThreadFacts>): void {
  if (facts.parent !== undefined && facts.parent !== 'unresolved') thread.parent = facts.parent;
  thread.taskId = facts.taskId ?? thread.taskId;
  thread.type = facts.agentType ?? thread.type;
  thread.description = facts.description ?? thread.description;
  thread.prompt = facts.prompt ?? thread.prompt;
}

/** Two threads turned out to be one agent: the first is merged into the other, in the order in which both were seen. */
function mergeThreads(tree: AgentTree, from: TreeThread, key: string): void {
  const byKey = threadsByKey(tree);
  const to = byKey.get(key);
  if (!to || to === from) return;
  byKey.set(from.key, to);
  tree.threads.splice(tree.threads.indexOf(from), 1);
  const [first, second] = from.streamId < to.streamId ? [from, to] : [to, from];
  to.items = [...first.items, ...second.items];
  to.runs = [...from.runs, ...to.runs];
  for (const fact of ['parent', 'taskId', 'type', 'description', 'prompt'] as const) to[fact] ??= from[fact];
  for (const status of ['status', 'reportedStatus'] as const) {
    if (to[status] === 'running' && from[status]) to[status] = from[status];
  }
  if (from.usage) to.usage = addUsage(to.usage, from.usage);
  if (from.progress !== undefined) to.progress ??= from.progress;
  for (const thread of tree.threads) if (thread.parent === from.key) thread.parent = to.key;
  for (const permission of tree.permissions) if (permission.thread === from.key) permission.thread = to.key;
}

function places(thread: TreeThread): Map<string, TreeItem> {
  let known = placesOf.get(thread);
  if (!known) placesOf.set(thread, (known = new Map()));
  return known;
}

function placeKey(at: BlockPlace): string {
  return `${at.block} ${at.message_id ?? ''}`;
}

function itemAt(thread: TreeThread, at: BlockPlace): TreeItem | undefined {
  return places(thread).get(placeKey(at));
}

/** Stores an item at its place, replaces the item that was there, or removes it. */
function place(thread: TreeThread, at: BlockPlace, item: TreeItem | undefined): void {
  const before = itemAt(thread, at);
  const key = placeKey(at);
  const named = item && at.message_id !== undefined ? withMessageId(item, at.message_id) : item;
  if (named) places(thread).set(key, named);
  else places(thread).delete(key);
  const index = before ? thread.items.indexOf(before) : -1;
  if (index !== -1) thread.items.splice(index, 1, ...(named ? [named] : []));
  else if (named) thread.items.push(named);
}

/** The item with the message id as its second field, for readability. */
function withMessageId(item: TreeItem, messageId: string): TreeItem {
  const { kind, ...rest } = item;
  // The cast: the spread adds one field to the same item.
  return { kind, messageId, ...rest } as TreeItem;
}

type TextEvent = Extract<AgentEvent, { type: 'text_delta' | 'thinking_delta' }>;

function addText(thread: TreeThread, event: TextEvent): void {
  const known = itemAt(thread, event);
  if (known && (known.kind === 'text' || known.kind === 'thinking')) {
    known.text += event.content;
    return;
  }
  const kind = event.type === 'text_delta' ? 'text' : 'thinking';
  const error = event.type === 'text_delta' ? event.error : undefined;
  place(thread, event, { kind, text: event.content, ...(error === undefined ? {} : { error }) });
}

function replaceItem(thread: TreeThread, event: Extract<AgentEvent, { type: 'replace' }>): void {
  // The translator gives the wire's block; its fields were checked when it was first said.
  const value = event.value as { id?: unknown; name?: unknown; input?: unknown };
  if (event.kind === 'text' || event.kind === 'thinking') {
    const error = event.error === undefined ? {} : { error: event.error };
    place(thread, event, { kind: event.kind, text: event.content ?? '', ...error });
  } else if (event.kind === 'tool_use') {
    const [id, name] = [text(value.id) ?? '', text(value.name) ?? 'unknown'];
    place(thread, event, { kind: 'tool_use', id, name, input: value.input ?? {} });
  } else place(thread, event, { kind: 'other', type: event.kind, value });
}

function addUsage(sum: TaskUsage | undefined, usage: TaskUsage): TaskUsage {
  const result: TaskUsage = { ...sum };
  for (const key of Object.keys(usage) as (keyof TaskUsage)[]) result[key] = (sum?.[key] ?? 0) + (usage[key] ?? 0);
  return result;
}

function endTurn(tree: AgentTree, event: Extract<AgentEvent, { type: 'turn_complete' }>): void {
  tree.sessionId = event.sessionId ?? tree.sessionId;
  const ended: EndedTurn = {
    subtype: event.subtype ?? null,
    isError: event.isError,
    result: event.result,
    ...(event.errors === undefined ? {} : { errors: event.errors }),
    ...(event.origin === undefined ? {} : { origin: event.origin }),
    ...(event.costUsd === undefined ? {} : { costUsd: event.costUsd }),
    ...(event.durationMs === undefined ? {} : { durationMs: event.durationMs }),
  };
  if (tree.turns[event.turn]) tree.turns[event.turn] = ended;
  else tree.turns.push(ended);
}
