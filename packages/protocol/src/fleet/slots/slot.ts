import type { StreamEventBase } from '../wire/event-base.ts';
import { cutTextStart } from '../../text/cut-text.ts';
import type {
  LoadedSettings,
  PlanTask,
  StreamEvent,
  StreamStart,
  TokenUsage,
  ToolCall,
  ToolOutput,
  ToolStart,
} from '../wire/events.ts';
import { limits } from './limits.ts';
import { questionsOf } from './question.ts';
import { appendText, emptyText, retractText, settleText, type TextTail } from './text-tail.ts';
import { toLabel } from './to-label.ts';
import { addUsage, type FleetUsage, noUsage, toUsage } from './usage.ts';

/** One turn of one agent: opened by its `stream_start`, closed by its `stream_end`. */
export interface Slot {
  readonly streamId: number;
  readonly parentStreamId: number | null;
  readonly childIndex: number | null;
  readonly depth: number;
  readonly agent: string;
  /** The title of the turn, shown instead of `agent`; null if its start has none. */
  readonly title: string | null;
  readonly threadId: string | null;
  readonly model: string | null;
  /** The beginning of its input; null if its start was not seen. */
  readonly task: string | null;
  /** `lost`: the turn is over, but its end was not seen. */
  readonly state: 'running' | 'needs_approval' | 'ok' | 'failed' | 'lost';
  /** The latest activity of the turn. `children`: it waits for its delegates. `between`: a tool has finished and no other activity has started. */
  readonly phase: SlotPhase;
  /** What its model request waits for, in the phases `queued` and `retrying`. */
  readonly waits: SlotWait | null;
  /** When the phase or the state last changed. */
  readonly since: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** The time of the newest event. */
  readonly lastAt: number | null;
  /** Model requests so far. */
  readonly iteration: number;
  readonly text: TextTail;
  /** The tool calls in the order in which they started. */
  readonly tools: readonly SlotTool[];
  readonly toolsStarted: number;
  readonly toolsFailed: number;
  readonly files: readonly SlotFile[];
  readonly filesWritten: number;
  readonly filesBytes: number;
  readonly openApprovals: number;
  readonly openChildren: number;
  /** The turn's own usage, without its delegates; `layoutRun` adds them up. */
  readonly usage: FleetUsage;
  /** The settings that its program loaded in addition to the definition, if this turn started the program. */
  readonly settings: LoadedSettings | null;
  /** The current plan of the agent. */
  readonly plan: readonly PlanTask[];
  /** How full the context window was after the newest response. Null before the first, and after the window was cleared. */
  readonly context: SlotContext | null;
  readonly stopReason: string | null;
  readonly error: string | null;
}

/** The activity of a turn. */
export type SlotPhase =
  | 'starting'
  | 'requesting'
  /** The request waits for its endpoint. */
  | 'queued'
  /** The request failed and is retried. */
  | 'retrying'
  | 'thinking'
  | 'writing'
  | 'tool'
  | 'children'
  | 'between';

/** What a model request waits for. */
export type SlotWait =
  | {
      readonly type: 'queued';
      readonly reason: string;
      readonly ahead: number;
      /** When the wait ends, in milliseconds since 1970. */
      readonly until: number | null;
    }
  | {
      readonly type: 'retrying';
      readonly code: string;
      readonly reason: string | null;
      readonly message: string;
      /** The number of the next attempt. */
      readonly attempt: number;
      readonly attemptsMax: number | null;
      readonly until: number;
    };

/** How full a model's context window is, in tokens. */
export interface SlotContext {
  readonly tokens: number;
  /** Tokens of the context window. */
  readonly window: number;
}

/** A tool call of a turn. */
export interface SlotTool {
  readonly toolUseId: string;
  readonly tool: string;
  /** The main input of the call in one line: a command, a path, an address. */
  readonly label: string;
  readonly state: 'running' | 'ok' | 'failed' | 'lost';
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  readonly error: string | null;
  /** The end of its output while it runs. Absent: no output, or the tool does not report it. */
  readonly output?: string;
  /** True if the client provides the result. Absent: the server runs the tool, or this is unknown. */
  readonly awaitsResult?: true;
}

/** A file that a turn wrote. */
export interface SlotFile {
  readonly path: string;
  readonly size: number;
}

/** A slot for a turn whose start was not seen, from the fields that every event has. */
export function openSlot(event: StreamEventBase): Slot {
  return {
    streamId: event.stream_id,
    parentStreamId: null,
    childIndex: null,
    depth: event.depth,
    agent: event.agent,
    title: null,
    threadId: event.thread_id,
    model: null,
    task: null,
    state: 'running',
    phase: 'starting',
    waits: null,
    since: event.ts,
    startedAt: null,
    endedAt: null,
    lastAt: event.ts,
    iteration: 0,
    text: emptyText,
    tools: [],
    toolsStarted: 0,
    toolsFailed: 0,
    files: [],
    filesWritten: 0,
    filesBytes: 0,
    openApprovals: 0,
    openChildren: 0,
    usage: noUsage,
    settings: null,
    plan: [],
    context: null,
    stopReason: null,
    error: null,
  };
}

/** A slot for a turn that starts. */
export function startSlot(event: StreamStart): Slot {
  const { parent_stream_id: parentStreamId, child_index: childIndex, title = null, task, model, ts: startedAt } = event;
  return { ...openSlot(event), parentStreamId, childIndex, title, task, model, startedAt };
}

/** The slot after one more event of its turn. Approvals and delegates concern other slots too: run.ts folds those. */
export function foldSlot(slot: Slot, event: StreamEvent, textCharsMax: number): Slot {
  switch (event.type) {
    case 'agent_start': {
      const { model, iteration } = event;
      return { ...enter(slot, 'requesting', event), model, iteration, text: settleText(slot.text) };
    }
    case 'request_queued': {
      const { reason, ahead, until = null } = event;
      return { ...enter(slot, 'queued', event), waits: { type: 'queued', reason, ahead, until } };
    }
    case 'request_admitted':
      return slot.phase === 'queued' ? enter(slot, 'requesting', event) : touch(slot, event);
    case 'request_retrying': {
      const { code, reason = null, message, attempt, attempts_max: attemptsMax = null, retry_at: until } = event;
      const waits = { type: 'retrying', code, reason, message, attempt, attemptsMax, until } as const;
      return { ...enter(slot, 'retrying', event), waits };
    }
    case 'context_compacted':
      return { ...touch(slot, event), context: null };
    case 'settings_loaded':
      return { ...touch(slot, event), settings: event };
    case 'text': {
      // Nearly all events are text deltas: the slot is copied once, not for each step.
      const { ts, delta } = event;
      const text = appendText(slot.text, delta, textCharsMax);
      const since = slot.phase === 'writing' ? slot.since : (ts ?? slot.since);
      return { ...slot, phase: 'writing', waits: null, since, lastAt: ts ?? slot.lastAt, text };
    }
    case 'text_retract':
      return { ...touch(slot, event), text: retractText(slot.text, event.from) };
    case 'thinking':
      return enter(slot, 'thinking', event);
    case 'tool_start':
      return addTool(enter(slot, 'tool', event), toRunningTool(event));
    case 'tool_output':
      return growTool(touch(slot, event), event);
    case 'plan':
      return { ...touch(slot, event), plan: event.items };
    case 'tool_call':
      return endTool(slot, event);
    case 'file':
      return addFile(touch(slot, event), { path: event.path, size: event.size });
    case 'sub_agent_response': {
      // If the deltas were removed or not requested, only this content can be shown.
      const text = slot.text.length === 0 ? appendText(slot.text, event.content, textCharsMax) : slot.text;
      return { ...touch(slot, event), text };
    }
    case 'token_usage':
      return { ...touch(slot, event), usage: addUsage(slot.usage, toUsage(event)), context: toContext(slot, event) };
    case 'error':
      return { ...touch(slot, event), error: event.message };
    case 'stream_end': {
      const { ok, stop_reason: stopReason, error = slot.error } = event;
      return { ...closeSlot(touch(slot, event), ok ? 'ok' : 'failed', event.ts), stopReason, error: ok ? null : error };
    }
    default:
      // run.ts folds `stream_start` and approvals; any other event only updates the time of the newest event.
      return touch(slot, event);
  }
}

/** Ends a turn and all of its tools, even if the end of a tool was not seen. */
export function closeSlot(slot: Slot, state: 'ok' | 'failed' | 'lost', time: number | null): Slot {
  const tools = slot.tools.some(isRunning)
    ? slot.tools.map((tool) => (isRunning(tool) ? { ...tool, state: 'lost' as const } : tool))
    : slot.tools;
  return { ...slot, state, tools, waits: null, endedAt: time, since: time ?? slot.since, openApprovals: 0 };
}

/** Whether the turn has not ended. */
export function isOpen(slot: Slot): boolean {
  return slot.state === 'running' || slot.state === 'needs_approval';
}

/** The slot in a phase, since now unless it was already in that phase. */
function enter(slot: Slot, phase: SlotPhase, { ts }: { readonly ts: number | null }): Slot {
  const since = slot.phase === phase ? slot.since : (ts ?? slot.since);
  return { ...slot, phase, waits: null, since, lastAt: ts ?? slot.lastAt };
}

/** Adds a pending approval, or (-1) removes one. */
export function awaitApproval(slot: Slot, change: 1 | -1, event: { readonly ts: number | null }): Slot {
  if (!isOpen(slot)) return touch(slot, event);
  const openApprovals = Math.max(0, slot.openApprovals + change);
  const state = openApprovals > 0 ? 'needs_approval' : 'running';
  const since = state === slot.state ? slot.since : (event.ts ?? slot.since);
  return { ...touch(slot, event), openApprovals, state, since };
}

/** Adds a running child, or (-1) removes one. */
export function countChild(slot: Slot, change: 1 | -1, event: { readonly ts: number | null }): Slot {
  const openChildren = Math.max(0, slot.openChildren + change);
  const next: SlotPhase = openChildren > 0 ? 'children' : slot.tools.some(isRunning) ? 'tool' : 'between';
  // A delegate that ends does not interrupt what its parent does in the meantime.
  const phase = change === 1 || slot.phase === 'children' ? next : slot.phase;
  if (phase === slot.phase) return { ...slot, openChildren };
  return { ...slot, openChildren, phase, waits: null, since: event.ts ?? slot.since };
}

function touch(slot: Slot, { ts }: { readonly ts: number | null }): Slot {
  return ts === null || ts === slot.lastAt ? slot : { ...slot, lastAt: ts };
}

/** The context after a request. Failed requests and summaries do not report it: the newest response counts. */
function toContext(
  { context }: Slot,
  { context_tokens: tokens, context_window: window }: TokenUsage,
): SlotContext | null {
  return tokens === undefined || window === undefined ? context : { tokens, window };
}

function toRunningTool(event: ToolStart): SlotTool {
  const { tool, tool_use_id: toolUseId, input, ts: startedAt, awaits_result: awaitsResult = false } = event;
  const [question] = awaitsResult ? questionsOf({ tool, input }) : [];
  return {
    toolUseId,
    tool,
    label: toLabel(question?.text ?? input),
    state: 'running',
    startedAt,
    durationMs: null,
    error: null,
    ...(awaitsResult ? { awaitsResult } : {}),
  };
}

function isRunning({ state }: SlotTool): boolean {
  return state === 'running';
}

function addTool(slot: Slot, tool: SlotTool): Slot {
  return { ...slot, tools: keepTools([...slot.tools, tool]), toolsStarted: slot.toolsStarted + 1 };
}

/** Keeps the newest tools. Finished tools are dropped first, because readers look for running ones. */
function keepTools(tools: SlotTool[]): readonly SlotTool[] {
  if (tools.length <= limits.toolsMax) return tools;
  const index = tools.findIndex((tool) => !isRunning(tool));
  return tools.toSpliced(Math.max(0, index), 1);
}

function growTool(slot: Slot, { tool_use_id: toolUseId, delta }: ToolOutput): Slot {
  const index = slot.tools.findLastIndex((tool) => isRunning(tool) && tool.toolUseId === toolUseId);
  const tool = slot.tools[index];
  if (tool === undefined) return slot;
  const output = cutTextStart((tool.output ?? '') + delta, limits.outputCharsMax);
  return { ...slot, tools: slot.tools.with(index, { ...tool, output }) };
}

function endTool(slot: Slot, event: ToolCall): Slot {
  const index = slot.tools.findLastIndex((tool) => isRunning(tool) && tool.toolUseId === event.tool_use_id);
  const before = slot.tools[index];
  const ended: SlotTool = {
    toolUseId: event.tool_use_id,
    tool: event.tool,
    label: before?.label ?? '',
    state: event.ok ? 'ok' : 'failed',
    startedAt: before?.startedAt ?? null,
    durationMs: event.duration_ms,
    error: event.error ?? null,
  };
  // A block of text commands has no start event of its own, only an end.
  const next = before === undefined ? addTool(slot, ended) : { ...slot, tools: slot.tools.with(index, ended) };
  const phase = next.tools.some(isRunning) ? slot.phase : 'between';
  return { ...enter(next, phase, event), toolsFailed: slot.toolsFailed + (event.ok ? 0 : 1) };
}

function addFile(slot: Slot, file: SlotFile): Slot {
  const files = [...slot.files, file].slice(-limits.filesMax);
  return { ...slot, files, filesWritten: slot.filesWritten + 1, filesBytes: slot.filesBytes + file.size };
}
