/** Fleet streams: their events, and what they add up to. Runs in browsers. */
export { type Approval, planOf } from './approval.ts';
export { CommandGate, type CommandStep } from './command-gate.ts';
export type { AgentCommand, Command, ParallelCommand, RefusalReason, RefusedCommand } from './command-scanner.ts';
export { describeSettings } from './describe-settings.ts';
export { encodeFleetEvent } from './encode-fleet-event.ts';
export { isRepeat } from './cursor.ts';
export type {
  AgentStart,
  ApprovalRequired,
  ApprovalResolved,
  ConnectionEvent,
  ContextCompacted,
  Done,
  FileWritten,
  FleetEvent,
  FleetEventBase,
  GapTold,
  KnownFleetEvent,
  LoadedSettings,
  Over,
  RequestAdmitted,
  RequestQueued,
  RequestReceived,
  RequestRetrying,
  RunError,
  RunEvent,
  SettingsLoaded,
  StreamEnd,
  StreamError,
  StreamEvent,
  StreamEventBase,
  StreamStart,
  SubAgentResponse,
  TextDelta,
  TextRetract,
  ThinkingDelta,
  TokenUsage,
  ToolCall,
  ToolStart,
  UnknownEvent,
} from './events.ts';
export { createFleet, type Fleet, findSession, foldFleet } from './fleet.ts';
export { cutText, cutTextStart } from './cut-text.ts';
export {
  createGate,
  type Gate,
  type GateMode,
  type GateOptions,
  type GateOutput,
  type IterationEnd,
  type SavedGate,
} from './gate.ts';
export type { FleetLoad, SessionHealth, ThreadHealth } from './health.ts';
export { layoutRun, type SlotRow } from './layout-run.ts';
export { limits as fleetLimits } from './limits.ts';
export { nowDoing } from './now-doing.ts';
export { type Question, type QuestionOption, questionsOf, toAnswerText } from './question.ts';
export {
  type CommandSegment,
  type ParsedCommands,
  parseCommands,
  quoteResult,
  type TextRange,
  toShownText,
} from './parse-commands.ts';
export { type FleetFrame, isFleetEvent, parseFleetEvent } from './parse-fleet-event.ts';
export { type AskRule, toRuleText } from './rule-text.ts';
export type { GapReason, Run } from './run.ts';
export type { Slot, SlotContext, SlotFile, SlotPhase, SlotTool, SlotWait } from './slot.ts';
export {
  createSlots,
  currentRun,
  foldSlots,
  type Gap,
  openApprovals,
  type SessionSlots,
  type SlotsOptions,
} from './slots.ts';
export type { Delegation } from './status-line.ts';
export type { TextTail } from './text-tail.ts';
export type { FleetTotals } from './totals.ts';
export type { FleetUsage } from './usage.ts';
