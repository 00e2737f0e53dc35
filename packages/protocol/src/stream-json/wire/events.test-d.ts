import type {
  AgentEvent,
  BlockAborted,
  BlockPlace,
  Envelope,
  ErrorEvent,
  EventBody,
  Gap,
  LineIssue,
  PermissionRequest,
  PermissionWithdrawn,
  Prompt,
  Raw,
  Replace,
  Retract,
  RunStart,
  SessionMeta,
  TaskUsage,
  TextDelta,
  ThinkingDelta,
  ThreadFacts,
  ThreadProgress,
  ThreadReport,
  ThreadStart,
  ThreadStatus,
  ThreadStatusChange,
  ThreadUpdate,
  ToolInputDelta,
  ToolResult,
  ToolUse,
  ToolUseStart,
  TurnComplete,
  TurnUsage,
  Unreadable,
  UNRESOLVED,
} from '@fleetloom/protocol/stream-json';
import { expectTypeOf } from 'vitest';

// The events as their readers see them, field by field: a change of an event must be repeated here deliberately.

interface Pinned {
  session_meta: {
    type: 'session_meta';
    model: string;
    sessionId?: string;
    turn: number;
    cwd?: string;
    tools?: string[];
    version?: string;
    permissionMode?: string;
  };
  thread_start: { type: 'thread_start'; parent: string } & PinnedFacts;
  thread_update: { type: 'thread_update'; parent?: string; sameAs?: string } & PinnedFacts;
  run_start: { type: 'run_start'; run: number; runId?: string; toolUseId?: string; late?: true };
  thread_progress: {
    type: 'thread_progress';
    description?: string;
    toolName?: string;
    usage?: TaskUsage;
    run?: number;
    late?: true;
  };
  thread_status: {
    type: 'thread_status';
    status: 'running' | 'completed' | 'failed' | 'stopped';
    run?: number;
    late?: true;
    source: 'task' | 'report' | 'result';
    error?: string;
  };
  thread_report: { type: 'thread_report'; run?: number; late?: true; summary?: string; usage?: TaskUsage };
  prompt: {
    type: 'prompt';
    role: 'prompt' | 'follow_up' | 'note' | 'user' | 'synthetic' | 'replay';
    content: string;
    media?: unknown;
  };
  text_delta: { type: 'text_delta'; content: string; error?: string } & Placed;
  thinking_delta: { type: 'thinking_delta'; content: string } & Placed;
  tool_use_start: { type: 'tool_use_start'; toolUseId: string; toolName: string } & Placed;
  tool_input_delta: { type: 'tool_input_delta'; toolUseId: string; content: string } & Placed;
  tool_use: { type: 'tool_use'; toolUseId: string; toolName: string; input: unknown } & Placed;
  tool_result: {
    type: 'tool_result';
    toolUseId: string;
    output: string;
    isError: boolean;
    content?: unknown;
    structured?: unknown;
  };
  replace: { type: 'replace'; kind: string; content?: string; value: unknown; error?: string } & Placed;
  retract: { type: 'retract' } & Placed;
  block_aborted: { type: 'block_aborted' } & Placed;
  permission_request: {
    type: 'permission_request';
    requestId: string;
    toolUseId?: string;
    toolName: string;
    input: unknown;
    request: unknown;
  };
  permission_withdrawn: { type: 'permission_withdrawn'; requestId: string };
  turn_complete: {
    type: 'turn_complete';
    turn: number;
    sessionId?: string;
    subtype?: string;
    isError: boolean;
    result: string | null;
    errors?: string[];
    costUsd?: number;
    totalCostUsd?: number;
    inputTokens?: number;
    outputTokens?: number;
    contextWindow?: number;
    usage?: TurnUsage;
    mainUsage?: TurnUsage;
    durationMs?: number;
    numTurns?: number;
    stopReason?: string;
    terminalReason?: string;
    origin?: string;
    structuredOutput?: unknown;
    resultIndex?: number;
  };
  error: { type: 'error'; message: string; sessionId?: string };
  gap: { type: 'gap'; expected: number; got: number };
  raw: { type: 'raw'; kind: string; value: unknown; message_id?: string; block?: number };
  unreadable: { type: 'unreadable'; issue: LineIssue };
}

interface Placed {
  message_id?: string;
  block: number;
}

interface PinnedFacts {
  taskId?: string;
  toolUseId?: string;
  agentType?: string;
  description?: string;
  prompt?: string;
  background?: boolean;
}

expectTypeOf<Flat<SessionMeta>>().toEqualTypeOf<Flat<Pinned['session_meta']>>();
expectTypeOf<Flat<ThreadStart>>().toEqualTypeOf<Flat<Pinned['thread_start']>>();
expectTypeOf<Flat<ThreadUpdate>>().toEqualTypeOf<Flat<Pinned['thread_update']>>();
expectTypeOf<Flat<RunStart>>().toEqualTypeOf<Flat<Pinned['run_start']>>();
expectTypeOf<Flat<ThreadProgress>>().toEqualTypeOf<Flat<Pinned['thread_progress']>>();
expectTypeOf<Flat<ThreadStatusChange>>().toEqualTypeOf<Flat<Pinned['thread_status']>>();
expectTypeOf<Flat<ThreadReport>>().toEqualTypeOf<Flat<Pinned['thread_report']>>();
expectTypeOf<Flat<Prompt>>().toEqualTypeOf<Flat<Pinned['prompt']>>();
expectTypeOf<Flat<TextDelta>>().toEqualTypeOf<Flat<Pinned['text_delta']>>();
expectTypeOf<Flat<ThinkingDelta>>().toEqualTypeOf<Flat<Pinned['thinking_delta']>>();
expectTypeOf<Flat<ToolUseStart>>().toEqualTypeOf<Flat<Pinned['tool_use_start']>>();
expectTypeOf<Flat<ToolInputDelta>>().toEqualTypeOf<Flat<Pinned['tool_input_delta']>>();
expectTypeOf<Flat<ToolUse>>().toEqualTypeOf<Flat<Pinned['tool_use']>>();
expectTypeOf<Flat<ToolResult>>().toEqualTypeOf<Flat<Pinned['tool_result']>>();
expectTypeOf<Flat<Replace>>().toEqualTypeOf<Flat<Pinned['replace']>>();
expectTypeOf<Flat<Retract>>().toEqualTypeOf<Flat<Pinned['retract']>>();
expectTypeOf<Flat<BlockAborted>>().toEqualTypeOf<Flat<Pinned['block_aborted']>>();
expectTypeOf<Flat<PermissionRequest>>().toEqualTypeOf<Flat<Pinned['permission_request']>>();
expectTypeOf<Flat<PermissionWithdrawn>>().toEqualTypeOf<Flat<Pinned['permission_withdrawn']>>();
expectTypeOf<Flat<TurnComplete>>().toEqualTypeOf<Flat<Pinned['turn_complete']>>();
expectTypeOf<Flat<ErrorEvent>>().toEqualTypeOf<Flat<Pinned['error']>>();
expectTypeOf<Flat<Gap>>().toEqualTypeOf<Flat<Pinned['gap']>>();
expectTypeOf<Flat<Raw>>().toEqualTypeOf<Flat<Pinned['raw']>>();
expectTypeOf<Flat<Unreadable>>().toEqualTypeOf<Flat<Pinned['unreadable']>>();

// What they are made of.

expectTypeOf<Envelope>().toEqualTypeOf<{
  seq: number;
  stream_id: number;
  depth: number;
  thread: string;
  ts?: string;
}>();
expectTypeOf<BlockPlace>().toEqualTypeOf<Placed>();
expectTypeOf<Flat<ThreadFacts>>().toEqualTypeOf<Flat<{ parent: string } & PinnedFacts>>();
expectTypeOf<ThreadStatus>().toEqualTypeOf<Pinned['thread_status']['status']>();
expectTypeOf<TaskUsage>().toEqualTypeOf<{ totalTokens?: number; toolUses?: number; durationMs?: number }>();
expectTypeOf<TurnUsage>().toEqualTypeOf<{
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
}>();
expectTypeOf<typeof UNRESOLVED>().toEqualTypeOf<'unresolved'>();

// No event has been forgotten above, and none is there that does not exist.

expectTypeOf<AgentEvent['type']>().toEqualTypeOf<keyof Pinned>();
expectTypeOf<EventBody['type']>().toEqualTypeOf<keyof Pinned>();
expectTypeOf<AgentEvent>().toExtend<Envelope>();
expectTypeOf<AgentEvent>().toExtend<EventBody>();

// Checking the type narrows the other fields.

export function narrows(event: AgentEvent): void {
  expectTypeOf(event.thread).toEqualTypeOf<string>();
  // @ts-expect-error: only some events have content
  void event.content;
  if (event.type === 'text_delta') {
    expectTypeOf(event.content).toEqualTypeOf<string>();
    expectTypeOf(event.block).toEqualTypeOf<number>();
    expectTypeOf(event.message_id).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: a text calls no tool
    void event.toolUseId;
  }
  if (event.type === 'tool_use') {
    expectTypeOf(event.input).toEqualTypeOf<unknown>();
    // @ts-expect-error: an input is anything until it is checked
    void event.input.command;
  }
  if (event.type === 'raw') expectTypeOf(event.block).toEqualTypeOf<number | undefined>();
  if (event.type === 'turn_complete') expectTypeOf(event.result).toEqualTypeOf<string | null>();
  // @ts-expect-error: there is no such event
  if (event.type === 'text') return;
}

/** All of them: a new event breaks this function, and every exhaustive switch of a user. */
export function isExhaustive(event: AgentEvent): string {
  switch (event.type) {
    case 'session_meta':
    case 'thread_start':
    case 'thread_update':
    case 'run_start':
    case 'thread_progress':
    case 'thread_status':
    case 'thread_report':
    case 'prompt':
    case 'text_delta':
    case 'thinking_delta':
    case 'tool_use_start':
    case 'tool_input_delta':
    case 'tool_use':
    case 'tool_result':
    case 'replace':
    case 'retract':
    case 'block_aborted':
    case 'permission_request':
    case 'permission_withdrawn':
    case 'turn_complete':
    case 'error':
    case 'gap':
    case 'raw':
      return event.type;
    default:
      expectTypeOf(event).toEqualTypeOf<Envelope & Unreadable>();
      if (event.type === 'unreadable') return event.issue.type;
      return event satisfies never;
  }
}

// What is not there is absent, never undefined: `'sessionId' in event` can be trusted.

const envelope: Envelope = { seq: 0, stream_id: 0, depth: 0, thread: 'main' };
export const complete: AgentEvent[] = [
  { ...envelope, type: 'error', message: 'no' },
  { ...envelope, type: 'text_delta', content: 'a', block: 0 },
  // @ts-expect-error: absent, not undefined
  { ...envelope, type: 'error', message: 'no', sessionId: undefined },
  // @ts-expect-error: absent, not undefined
  { ...envelope, ts: undefined, type: 'error', message: 'no' },
  // @ts-expect-error: true or absent, never false
  { ...envelope, type: 'run_start', run: 0, late: false },
  // @ts-expect-error: no agent is in this state
  { ...envelope, type: 'thread_status', status: 'idle', source: 'task' },
  // @ts-expect-error: the body alone is not an event
  { type: 'error', message: 'no' },
  // @ts-expect-error: a text has a place
  { ...envelope, type: 'text_delta', content: 'a' },
];

/** An intersection or an heir as one plain object, so that two ways of writing the same are the same. */
type Flat<Value> = { [Key in keyof Value]: Value[Key] };
