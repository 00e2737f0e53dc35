import {
  addUsage,
  type AuditChainEnd,
  byAttention,
  CalmOrder,
  type CustomTools,
  describeChainEnd,
  describeSilence,
  describeStall,
  eventFields,
  type FieldKind,
  formatUsageCost,
  isStalled,
  type SilenceContext,
  type StateId,
  type StateLook,
  states,
  threadKey,
  type ThreadRow,
  type ThreadState,
  toLabel,
  tokensOf,
  toStateId,
  toThreadRows,
  toThreadState,
  type AgentCommand,
  type AgentStart,
  type Approval,
  type ApprovalRequired,
  type ApprovalResolved,
  type ApprovalRule,
  type Command,
  CommandGate,
  type CommandSegment,
  type CommandStep,
  type ConnectionEvent,
  type ContextCompacted,
  createFleet,
  createGate,
  createSlots,
  currentRun,
  type Delegation,
  describeRewind,
  describeSettings,
  hasExamplePrice,
  type Done,
  encodeFleetEvent,
  type FileWritten,
  findSession,
  type Fleet,
  type FleetEvent,
  type FleetEventBase,
  type FleetFrame,
  fleetLimits,
  type FleetKey,
  type FleetLoad,
  type FleetMachine,
  type FleetProgram,
  type FleetSettings,
  type FleetTotals,
  type FleetUsage,
  type FleetWebhook,
  foldFleet,
  foldSlots,
  type Gap,
  type GapReason,
  type GapEvent,
  type Gate,
  type GateMode,
  type GateOptions,
  type GateOutput,
  type LoadedSettings,
  planOf,
  type Question,
  type QuestionOption,
  questionsOf,
  toAnswerText,
  type SavedGate,
  isFleetEvent,
  isRepeat,
  type IterationEnd,
  type KnownFleetEvent,
  layoutRun,
  nowDoing,
  openApprovals,
  type Over,
  type ParallelCommand,
  parseCommands,
  type ParsedCommands,
  parseFleetEvent,
  quoteResult,
  type RefusalReason,
  type RefusedCommand,
  type RequestAdmitted,
  type RequestQueued,
  type RequestReceived,
  type RequestRetrying,
  type Run,
  type RunError,
  type RunEvent,
  type PlanChanged,
  type PlanTask,
  type SettingsLoaded,
  type ToolOutput,
  type FilesRewound,
  type SessionLevelEvent,
  type SessionsChanged,
  type SessionHealth,
  type SessionSlots,
  type Slot,
  type SlotContext,
  type SlotFile,
  type SlotPhase,
  type SlotRow,
  type SlotsOptions,
  type SlotTool,
  type SlotWait,
  type StreamEnd,
  type StreamError,
  type StreamEvent,
  type StreamEventBase,
  type StreamStart,
  type SubAgentResponse,
  type TextDelta,
  type TextRetract,
  type TextTail,
  type ThinkingDelta,
  type ThinkingRetract,
  type ThreadHealth,
  type TokenUsage,
  type ToolCall,
  type ToolStart,
  toRuleText,
  type UnknownEvent,
  cutText,
  cutTextStart,
  type TextRange,
  toShownText,
} from '@fleetloom/protocol/fleet';
import type { SseEvent } from '@fleetloom/protocol/sse';
import { expectTypeOf } from 'vitest';

// --- events ---

expectTypeOf(parseFleetEvent).toEqualTypeOf<(frame: FleetFrame) => FleetEvent>();
expectTypeOf<SseEvent>().toExtend<FleetFrame>();
expectTypeOf(encodeFleetEvent).toEqualTypeOf<(event: FleetEvent) => string>();
expectTypeOf(isFleetEvent).guards.toEqualTypeOf<KnownFleetEvent>();
expectTypeOf(isRepeat).toEqualTypeOf<(cursor: string, last: string | null) => boolean>();

expectTypeOf<FleetEvent>().toEqualTypeOf<KnownFleetEvent | UnknownEvent>();
expectTypeOf<SessionLevelEvent['type']>().toEqualTypeOf<
  'session_error' | 'files_rewound' | 'workspace_changed' | 'workspace_applied' | 'workspace_discarded'
>();
expectTypeOf<KnownFleetEvent>().toEqualTypeOf<RunEvent | StreamEvent | SessionLevelEvent | ConnectionEvent>();
expectTypeOf<RunEvent>().toEqualTypeOf<RequestReceived | RunError | Done>();
expectTypeOf<ConnectionEvent>().toEqualTypeOf<GapEvent | Over | SessionsChanged>();
expectTypeOf<FleetEvent>().toExtend<FleetEventBase>();
expectTypeOf<StreamEvent>().toExtend<StreamEventBase>();
expectTypeOf<StreamEvent>().toEqualTypeOf<
  | StreamStart
  | AgentStart
  | RequestQueued
  | RequestAdmitted
  | RequestRetrying
  | ContextCompacted
  | SettingsLoaded
  | PlanChanged
  | TextDelta
  | TextRetract
  | ThinkingDelta
  | ThinkingRetract
  | ToolStart
  | ToolOutput
  | ToolCall
  | FileWritten
  | ApprovalRequired
  | ApprovalResolved
  | SubAgentResponse
  | TokenUsage
  | StreamError
  | StreamEnd
>();

export function narrows(event: FleetEvent): string | number | boolean | undefined {
  // @ts-expect-error: runs and connections have no stream
  void event.depth;
  switch (event.type) {
    case 'request_received':
      return event.request_id;
    case 'stream_start':
      return event.parent_stream_id ?? event.task;
    case 'agent_start':
      return event.iteration;
    case 'request_queued':
      return event.until ?? event.ahead;
    case 'request_admitted':
    case 'context_compacted':
      return event.stream_id;
    case 'settings_loaded':
      return event.settings;
    case 'request_retrying':
      return event.attempts_max ?? event.retry_at;
    case 'text':
    case 'thinking':
    case 'tool_output':
      return event.delta;
    case 'plan':
      return event.items[0]?.status;
    case 'text_retract':
    case 'thinking_retract':
      return event.from;
    case 'tool_start':
      return event.tool;
    case 'tool_call':
      return event.duration_ms;
    case 'file':
      return event.path;
    case 'approval_required':
      // @ts-expect-error: a pending approval has no decision yet
      return event.result;
    case 'approval_resolved':
      return event.result;
    case 'sub_agent_response':
      return event.content;
    case 'token_usage':
      return event.context_window ?? event.cost_usd;
    case 'stream_end':
      return event.stop_reason;
    case 'error':
      // An error has a stream, or is one of the run.
      if (event.stream_id !== undefined) return event.agent;
      expectTypeOf(event).toEqualTypeOf<RunError>();
      return event.code;
    case 'done':
      return event.files_bytes;
    case 'session_error':
      return event.reason ?? event.code;
    case 'workspace_changed':
      return event.files[0]?.path ?? event.tree;
    case 'workspace_applied':
      return event.branch ?? event.onto;
    case 'workspace_discarded':
      return event.by;
    case 'files_rewound':
      return event.files_count + event.files.length;
    case 'gap':
      return event.until;
    case 'over':
      return event.reason;
    case 'sessions_changed':
      return event.sessions[0]?.name ?? event.counts.needs_you;
    case 'unknown':
      expectTypeOf(event.value).toEqualTypeOf<unknown>();
      return event.name;
    default:
      return event satisfies never;
  }
}

// --- slots ---

expectTypeOf(createSlots).toEqualTypeOf<(options?: SlotsOptions) => SessionSlots>();
expectTypeOf<SlotsOptions>().toEqualTypeOf<{ readonly textCharsMax?: number }>();
expectTypeOf(foldSlots).toEqualTypeOf<(state: SessionSlots, event: FleetEvent) => SessionSlots>();
expectTypeOf(currentRun).toEqualTypeOf<(state: SessionSlots) => Run | undefined>();
expectTypeOf(openApprovals).toEqualTypeOf<(state: SessionSlots) => Approval[]>();
expectTypeOf(layoutRun).toEqualTypeOf<(run: Run) => SlotRow[]>();
expectTypeOf(nowDoing).toEqualTypeOf<(slot: Slot) => string>();
expectTypeOf(createFleet).toEqualTypeOf<(options?: SlotsOptions) => Fleet>();
expectTypeOf(foldFleet).toEqualTypeOf<(fleet: Fleet, event: FleetEvent) => Fleet>();
expectTypeOf(findSession).toEqualTypeOf<(fleet: Fleet, sessionId: string) => SessionSlots | undefined>();

expectTypeOf<Fleet['sessions']>().toEqualTypeOf<readonly SessionSlots[]>();
expectTypeOf<SessionSlots['runs']>().toEqualTypeOf<readonly Run[]>();
expectTypeOf<SessionSlots['gaps']>().toEqualTypeOf<readonly Gap[]>();
expectTypeOf<Gap>().toEqualTypeOf<{
  readonly reason: GapReason;
  readonly cursor: string;
  readonly after: string | null;
}>();
expectTypeOf<Run['state']>().toEqualTypeOf<'running' | 'ok' | 'failed' | 'lost'>();
expectTypeOf<Run['slots']>().toEqualTypeOf<readonly Slot[]>();
expectTypeOf<Run['approvals']>().toEqualTypeOf<readonly Approval[]>();
expectTypeOf<Run['totals']>().toEqualTypeOf<FleetTotals>();
expectTypeOf<Slot['state']>().toEqualTypeOf<'running' | 'needs_approval' | 'ok' | 'failed' | 'lost'>();
expectTypeOf<Slot['phase']>().toEqualTypeOf<SlotPhase>();
expectTypeOf<Slot['waits']>().toEqualTypeOf<SlotWait | null>();
expectTypeOf<SlotWait['type']>().toEqualTypeOf<'queued' | 'retrying'>();
expectTypeOf<Slot['context']>().toEqualTypeOf<SlotContext | null>();
expectTypeOf<SlotContext>().toEqualTypeOf<{ readonly tokens: number; readonly window: number }>();
expectTypeOf<Slot['tools']>().toEqualTypeOf<readonly SlotTool[]>();
expectTypeOf<Slot['files']>().toEqualTypeOf<readonly SlotFile[]>();
expectTypeOf<Slot['text']>().toEqualTypeOf<TextTail>();
expectTypeOf<Slot['usage']>().toEqualTypeOf<FleetUsage>();
expectTypeOf<SlotRow['slot']>().toEqualTypeOf<Slot>();

export function changes(state: SessionSlots): void {
  // @ts-expect-error: it is read, and folded to the next
  state.cursor = '7';
}

// --- commands and gates ---

expectTypeOf(parseCommands).toEqualTypeOf<(text: string) => ParsedCommands>();
expectTypeOf(quoteResult).toEqualTypeOf<(text: string) => string>();
expectTypeOf<ParsedCommands['segments']>().toEqualTypeOf<readonly CommandSegment[]>();
expectTypeOf<Command>().toEqualTypeOf<AgentCommand | ParallelCommand>();
expectTypeOf<ParallelCommand['children']>().toEqualTypeOf<readonly AgentCommand[]>();
expectTypeOf<RefusedCommand['reason']>().toEqualTypeOf<RefusalReason>();
expectTypeOf<RefusalReason>().toEqualTypeOf<
  'no_end' | 'no_start' | 'empty' | 'too_many' | 'nested' | 'incomplete' | 'too_long'
>();
expectTypeOf(CommandGate).toBeConstructibleWith();
expectTypeOf<CommandGate['push']>().toEqualTypeOf<(delta: string) => CommandStep>();
expectTypeOf<CommandGate['end']>().toEqualTypeOf<() => CommandStep>();

expectTypeOf(createGate).toEqualTypeOf<(options: GateOptions, saved?: SavedGate) => Gate>();
expectTypeOf<Gate['save']>().toEqualTypeOf<() => SavedGate>();
expectTypeOf<GateMode>().toEqualTypeOf<'strict' | 'live' | 'off'>();
expectTypeOf<IterationEnd>().toEqualTypeOf<'ok' | 'failed' | 'void'>();
expectTypeOf<Gate['delegate']>().toEqualTypeOf<(delegation: Delegation) => GateOutput[]>();
// @ts-expect-error: there is no default here; the door has one
createGate({});

expectTypeOf(fleetLimits.childrenMax).toEqualTypeOf<16>();

// --- rules and health ---

expectTypeOf(toRuleText).parameter(0).toEqualTypeOf<ApprovalRule>();
expectTypeOf(toRuleText).returns.toEqualTypeOf<string>();
expectTypeOf<ApprovalRule>().toEqualTypeOf<{
  readonly tool: string;
  readonly field: string | null;
  readonly pattern: string;
}>();

expectTypeOf<SessionHealth['threads']>().toEqualTypeOf<readonly ThreadHealth[]>();
expectTypeOf<SessionHealth['owner']>().toEqualTypeOf<{ readonly node_id: string | null } | null>();
expectTypeOf<ThreadHealth['doing']>().toEqualTypeOf<'request' | 'tool' | 'program' | 'elsewhere' | 'wait'>();
expectTypeOf<Extract<ThreadHealth, { doing: 'program' }>['pid']>().toEqualTypeOf<number | null>();
expectTypeOf<FleetLoad['nodes']>().toEqualTypeOf<number>();
expectTypeOf<FleetProgram['problem']>().toEqualTypeOf<string | null>();
expectTypeOf<FleetSettings['keys']>().toEqualTypeOf<readonly FleetKey[]>();
expectTypeOf<FleetSettings['machine']>().toEqualTypeOf<FleetMachine>();
expectTypeOf<FleetSettings['webhooks']>().toEqualTypeOf<readonly FleetWebhook[]>();
// @ts-expect-error: the secret of a key is not in any response
expectTypeOf<FleetKey['secret']>().toEqualTypeOf<string>();

export function isBusy({ endpoint }: FleetLoad): boolean {
  // @ts-expect-error: there may be none
  return endpoint.active > 0;
}

expectTypeOf(cutText).toEqualTypeOf<(text: string, charsMax: number) => string>();
expectTypeOf(cutTextStart).toEqualTypeOf<(text: string, charsMax: number) => string>();
expectTypeOf(toShownText).toEqualTypeOf<(text: string, notRun: readonly TextRange[]) => string>();

expectTypeOf(describeRewind).parameters.toEqualTypeOf<[FilesRewound]>();
expectTypeOf(describeRewind).returns.toBeString();
expectTypeOf(describeSettings).parameters.toEqualTypeOf<[LoadedSettings]>();
expectTypeOf(describeSettings).returns.toBeString();
expectTypeOf(hasExamplePrice).toEqualTypeOf<(model: string) => boolean>();
expectTypeOf(planOf).returns.toEqualTypeOf<string | null>();
expectTypeOf(planOf).toBeCallableWith({ kind: 'plan', input: { plan: 'x' } });

expectTypeOf(questionsOf).returns.toEqualTypeOf<readonly Question[]>();
expectTypeOf<Question['options'][number]>().toEqualTypeOf<QuestionOption>();
expectTypeOf(toAnswerText).returns.toBeString();

// --- the model of both user interfaces ---

expectTypeOf(eventFields).toExtend<Readonly<Record<KnownFleetEvent['type'], Readonly<Record<string, FieldKind>>>>>();
expectTypeOf(toThreadRows).toEqualTypeOf<(runs: readonly Run[]) => readonly ThreadRow[]>();
expectTypeOf(threadKey).toEqualTypeOf<(slot: Pick<Slot, 'threadId' | 'streamId'>, runIndex: number) => string>();
expectTypeOf<ThreadRow['slot']>().toEqualTypeOf<Slot>();
expectTypeOf(toThreadState).toEqualTypeOf<(slot: Slot, nowMs: number, customTools?: CustomTools) => ThreadState>();
expectTypeOf(toStateId).toEqualTypeOf<(slot: Slot, nowMs: number | null, customTools?: CustomTools) => StateId>();
expectTypeOf(states).toEqualTypeOf<Readonly<Record<StateId, StateLook>>>();
expectTypeOf<StateId>().toExtend<string>();
expectTypeOf(isStalled).toEqualTypeOf<(slot: Slot, nowMs: number) => boolean>();
expectTypeOf(describeSilence).toEqualTypeOf<
  (slot: Slot, nowMs: number, context?: SilenceContext) => string | undefined
>();
expectTypeOf(describeStall).toEqualTypeOf<(slot: Slot, nowMs: number, context?: SilenceContext) => string>();
expectTypeOf(byAttention<{ state: StateId; slot: Slot; id: 1 }>).returns.toEqualTypeOf<
  readonly { state: StateId; slot: Slot; id: 1 }[]
>();
expectTypeOf(new CalmOrder().order(['a'], 0, false, 1)).toEqualTypeOf<readonly string[]>();
expectTypeOf(toLabel).toEqualTypeOf<(input: unknown) => string>();
expectTypeOf(addUsage).toEqualTypeOf<(sum: FleetUsage, more: FleetUsage) => FleetUsage>();
expectTypeOf(tokensOf).toEqualTypeOf<(usage: FleetUsage) => number>();
expectTypeOf(formatUsageCost).toEqualTypeOf<(usage: FleetUsage, unknown?: string) => string>();
expectTypeOf<AuditChainEnd>().toEqualTypeOf<{ readonly seq: number; readonly hash: string }>();
expectTypeOf(describeChainEnd).toEqualTypeOf<(last: AuditChainEnd, head: AuditChainEnd) => string | undefined>();
expectTypeOf<PlanTask>().toEqualTypeOf<{ readonly text: string; readonly status: string }>();
