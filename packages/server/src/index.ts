/** The ground of the server: time, ids, errors and limits. Sessions, stores and doors stand on it. */
export { type Clock, createManualClock, type ManualClock, systemClock } from './base/clock.ts';
export { type ErrorKind, FleetloomError, type FleetloomErrorFields } from './base/errors.ts';
export { createIds, type Id, type IdPrefix, type Ids, type IdSources } from './base/ids.ts';
export type { Json, JsonObject } from './base/json.ts';
export { limits } from './base/limits.ts';
export type { Capabilities } from './engines/claude-code/capabilities.ts';
export {
  type ClaudeProgram,
  findClaudeProgram,
  type FindProgramOptions,
  type FoundProgram,
  type ProgramProblem,
} from './engines/claude-code/find-program.ts';
export { toGatewayVariables } from './engines/claude-code/to-environment.ts';
export { type NoGateway, whyNoGateway } from './engines/claude-code/gateway/unusable.ts';
export type { Upstream } from './engines/claude-code/gateway/upstream.ts';
export {
  type AskOptions,
  createScriptedHandler,
  createScriptedModel,
  type ScriptedHandler,
  type ScriptedHandlerOptions,
  type ScriptedModel,
  ScriptedModelError,
  type ScriptedModelOptions,
  type ScriptedModelServer,
  type ServeScriptedModelOptions,
  serveScriptedModel,
} from './engines/scripted/index.ts';
export { DeltaCoalescer, type DeltaCoalescerOptions } from './store/delta-coalescer.ts';
export type { TailEnd } from './store/feed.ts';
export {
  type EncodedFrame,
  type Entry,
  encodeFrame,
  type Frame,
  type NewFrame,
  type PrunedRange,
  StoredFrame,
  type Turn,
} from './store/frame.ts';
export { createLog, type LogOptions, type SessionLog, type Tail, type TailRequest } from './store/log.ts';
export { createMemoryStore } from './store/memory/memory-store.ts';
export type { Page, PageRequest } from './store/page.ts';
export { type PruneDeltasRequest, pruneDeltas } from './store/prune-deltas.ts';
export type {
  AgentRecord,
  ApprovalRecord,
  DocumentRecord,
  EnvironmentRecord,
  InputRecord,
  KeyRecord,
  NewAgent,
  NewApproval,
  NewEnvironment,
  NewInput,
  NewKey,
  NewSession,
  NewThread,
  NewWork,
  SessionRecord,
  Status,
  ThreadRecord,
  WorkRecord,
} from './store/records.ts';
export { openPostgresStore, type PostgresOptions } from './store/postgres/postgres-store.ts';
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts';
export type { Signal, Store } from './store/store.ts';
export { isStoreError, type StoreErrorCode } from './store/store-errors.ts';
export { type Appended, type Change, commitOne, type Outcome, type SubmitChange, type Write } from './store/write.ts';
export type { RateLimit } from './http/rate-limit.ts';
export type { DoorLog, RequestLogEntry } from './http/request-log.ts';
export type { ClaudeCodeChoice } from './open-programs.ts';
export { openKeys, type OpenKeysOptions } from './open-keys.ts';
export { type FleetloomServer, type ServerOptions, startServer } from './server.ts';
export { checkToolPrograms, type ToolPrograms } from './tools/tool-programs.ts';
