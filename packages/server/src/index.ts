/** The public API of `@fleetloom/server`: start a server, or use its stores, log and scripted model on their own. */
export { type Clock, createManualClock, type ManualClock, systemClock } from './base/clock.ts';
export { type ErrorKind, FleetloomError, type FleetloomErrorFields } from './base/errors.ts';
export { createIds, type Id, type IdPrefix, type Ids, type IdSources } from './base/ids.ts';
export type { Json, JsonObject } from './base/json/json.ts';
export { limits } from './limits.ts';
export {
  type Capabilities,
  programCapabilities as claudeCodeCapabilities,
} from './engines/program/claude-code/capabilities.ts';
export {
  type ClaudeProgram,
  findClaudeProgram,
  type FoundProgram,
  type ProgramProblem,
} from './engines/program/claude-code/find-program.ts';
export { codexCapabilities } from './engines/program/codex/codex-capabilities.ts';
export { acpCapabilities } from './engines/program/acp/acp-capabilities.ts';
export { type AcpAgent, findAgent } from './engines/program/acp/find-agent.ts';
export { findOpencode, type FoundOpencode } from './engines/program/opencode/find-program.ts';
export { opencodeCapabilities } from './engines/program/opencode/capabilities.ts';
export {
  type CodexProblem,
  type CodexProgram,
  findCodex,
  type FindCodexOptions,
  type FoundCodex,
} from './engines/program/codex/find-program.ts';
export type { FindProgramOptions, InstallProblem } from './engines/program/launch/find-installed.ts';
export { capabilityWords, listLacks, type ProgramCapabilities } from './engines/program/program-capabilities.ts';
export { listPrograms, type ProgramEntry } from './engines/program/registry.ts';
export { toGatewayVariables } from './engines/program/claude-code/launch/to-environment.ts';
export { type NoGateway, whyNoGateway } from './engines/program/gateway/unusable.ts';
export type { Upstream } from './engines/program/gateway/upstream.ts';
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
} from './engines/model/scripted/index.ts';
export { findGit, type FoundGit } from './workspaces/git/find-git.ts';
export { findOrphanedWorktrees, type OrphanedWorktree } from './workspaces/sources/find-orphans.ts';
export { DeltaCoalescer, type DeltaCoalescerOptions } from './log/delta-coalescer.ts';
export type { TailEnd } from './log/feed.ts';
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
export { createLog, type LogOptions, type SessionLog } from './log/log.ts';
export type { Tail, TailRequest } from './log/tail.ts';
export { createMemoryStore } from './store/memory/memory-store.ts';
export type { Page, PageRequest } from './store/page.ts';
export { type PruneDeltasRequest, pruneDeltas } from './log/prune-deltas.ts';
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
export type { RateLimit } from './http/auth/rate-limit.ts';
export type { DoorLog, RequestLog, RequestLogEntry } from './base/request-log.ts';
export type { ClaudeCodeChoice } from './composition/open-programs.ts';
export { CHAIN_START, type ChainEnd } from './store/audit.ts';
export { ChainCheck, type CheckedEntry } from './store/chain-check.ts';
export { ROLE_NAMES, type Role, SCOPES, type Scope } from './keys/scopes.ts';
export { toFleetKey } from './keys/to-fleet-key.ts';
export type { DatabaseTls } from './store/postgres/database-tls.ts';
export type { TlsFiles } from './http/server/tls.ts';
export type { KeepAudit } from './composition/server-options.ts';
export { openKeys, type OpenKeysOptions } from './composition/credentials/open-keys.ts';
export { type FleetloomServer, type ServerOptions, startServer } from './server.ts';
export { checkToolPrograms, type ToolPrograms } from './tools/registry/tool-programs.ts';
