/** Fleet streams: their events, the fold over them, and the model that both user interfaces show. Runs in browsers. */
export { type Approval, planOf } from './slots/approval.ts';
export { CommandGate, type CommandStep } from './commands/command-gate.ts';
export type {
  AgentCommand,
  Command,
  ParallelCommand,
  RefusalReason,
  RefusedCommand,
} from './commands/command-scanner.ts';
export { byAttention, CalmOrder } from './model/attention.ts';
export { describeRewind } from './model/describe-rewind.ts';
export { describeSettings } from './model/describe-settings.ts';
export { hasExamplePrice } from './model/example-price.ts';
export { describeSilence, describeStall, type SilenceContext } from './model/describe-silence.ts';
export {
  type SessionFacts,
  sessionStateAt,
  sessionStates,
  stateOfSession,
  type StoredSessionState,
  toSessionState,
} from './model/session-state.ts';
export { toSessionName } from './model/session-name.ts';
export { isSessionId, toIdPrefix, toShortId } from './model/short-id.ts';
export type * from './wire/approval-rules.ts';
export type * from './wire/changes.ts';
export type * from './wire/oauth-flows.ts';
export type * from './wire/push.ts';
export type * from './wire/sessions.ts';
export { encodeFleetEvent } from './wire/encode-fleet-event.ts';
export { isRepeat } from './wire/cursor.ts';
export { eventFields, type FieldKind } from './wire/event-fields.ts';
export type * from './wire/event-base.ts';
export type * from './wire/events.ts';
export type * from './wire/workspace-events.ts';
export type * from './wire/files.ts';
export { createFleet, type Fleet, findSession, foldFleet } from './slots/fleet.ts';
export { cutText, cutTextStart } from '../text/cut-text.ts';
export {
  createGate,
  type Gate,
  type GateMode,
  type GateOptions,
  type GateOutput,
  type IterationEnd,
  type SavedGate,
} from './commands/gate.ts';
export type { FleetLoad, SessionHealth, ThreadHealth } from './wire/health.ts';
export type { FleetBudget, FleetCostGroup, FleetCosts, FleetCostsQuery } from './wire/costs.ts';
export type {
  FleetAuditEntry,
  FleetKey,
  FleetAuditCaller,
  FleetLogin,
  FleetPerson,
  FleetMachine,
  FleetProgram,
  FleetRole,
  FleetScope,
  FleetSettings,
  FleetWebhook,
} from './wire/server.ts';
export { layoutRun, type SlotRow } from './model/layout-run.ts';
export { type ThreadRow, threadKey, toThreadRows } from './model/thread-rows.ts';
export {
  type CustomTools,
  isStalled,
  type StateId,
  type StateLook,
  states,
  type ThreadState,
  toStateId,
  toThreadState,
} from './model/thread-state.ts';
export { toLabel } from './slots/to-label.ts';
export { limits as fleetLimits } from './limits.ts';
export { type AuditChainEnd, describeChainEnd } from './model/describe-chain-end.ts';
export { nowDoing } from './model/now-doing.ts';
export { type Question, type QuestionOption, questionsOf, toAnswerText } from './slots/question.ts';
export {
  type CommandSegment,
  type ParsedCommands,
  parseCommands,
  quoteResult,
  type TextRange,
  toShownText,
} from './commands/parse-commands.ts';
export { type FleetFrame, isFleetEvent, parseFleetEvent } from './wire/parse-fleet-event.ts';
export { type ApprovalRule, toRuleText } from './model/rule-text.ts';
export type { GapReason, Run } from './slots/run.ts';
export type { Slot, SlotContext, SlotFile, SlotPhase, SlotTool, SlotWait } from './slots/slot.ts';
export {
  createSlots,
  currentRun,
  foldSlots,
  type Gap,
  openApprovals,
  type SessionSlots,
  type SlotsOptions,
} from './slots/slots.ts';
export type { Delegation } from './commands/status-line.ts';
export type { TextTail } from './slots/text-tail.ts';
export type { FleetTotals } from './slots/totals.ts';
export { addUsage, formatUsageCost, type FleetUsage, tokensOf } from './slots/usage.ts';
