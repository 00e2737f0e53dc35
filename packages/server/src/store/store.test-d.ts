import {
  type AgentRecord,
  type Appended,
  type ApprovalRecord,
  type Change,
  type Clock,
  commitOne,
  createLog,
  createMemoryStore,
  DeltaCoalescer,
  type DeltaCoalescerOptions,
  type DocumentRecord,
  type EncodedFrame,
  type Entry,
  type EnvironmentRecord,
  encodeFrame,
  type FleetloomError,
  type Frame,
  type InputRecord,
  isStoreError,
  type Json,
  type JsonObject,
  type KeyRecord,
  type LogOptions,
  type NewAgent,
  type NewApproval,
  type NewEnvironment,
  type NewFrame,
  type NewInput,
  type NewKey,
  type NewSession,
  type NewThread,
  type NewWork,
  openPostgresStore,
  openSqliteStore,
  type Outcome,
  type Page,
  type PageRequest,
  type PostgresOptions,
  type PruneDeltasRequest,
  type PrunedRange,
  pruneDeltas,
  type SessionLog,
  type SessionRecord,
  type Signal,
  type SqliteStoreOptions,
  type Status,
  type Store,
  type StoredFrame,
  type StoreErrorCode,
  type SubmitChange,
  type Tail,
  type TailEnd,
  type TailRequest,
  type ThreadRecord,
  type Turn,
  type WorkRecord,
  type Write,
} from '@fleetloom/server';
import { expectTypeOf } from 'vitest';

// --- frames and entries ---

expectTypeOf<Turn>().toEqualTypeOf<{ readonly streamId: number; readonly depth: number; readonly run: string }>();
expectTypeOf<Frame>().toExtend<NewFrame>();
expectTypeOf<Frame['payload']>().toEqualTypeOf<JsonObject>();
expectTypeOf<JsonObject>().toExtend<Json>();
expectTypeOf(encodeFrame).returns.toEqualTypeOf<EncodedFrame>();
expectTypeOf<Entry>().toEqualTypeOf<StoredFrame | PrunedRange>();
expectTypeOf<Extract<Entry, { kind: 'pruned' }>>().toEqualTypeOf<PrunedRange>();
expectTypeOf<StoredFrame['value']>().toEqualTypeOf<Frame>();

// --- writes: changes of owners and of other nodes ---

expectTypeOf<SubmitChange>().toExtend<Change>();
expectTypeOf<Extract<Write, { type: 'submit' }>['changes']>().toEqualTypeOf<readonly SubmitChange[]>();
expectTypeOf<Extract<Write, { type: 'append' }>['fence']>().toEqualTypeOf<number>();
expectTypeOf<Extract<Write<NewFrame>, { type: 'create' }>['frames']>().toEqualTypeOf<readonly NewFrame[]>();
expectTypeOf<Extract<Outcome, { ok: true }>>().toExtend<Appended>();
expectTypeOf<Extract<Outcome, { ok: false }>['error']>().toEqualTypeOf<FleetloomError>();
expectTypeOf(commitOne).returns.resolves.toEqualTypeOf<Appended>();
// @ts-expect-error: an append needs a fence
export const unfenced: Write = { type: 'append', sessionId: 's', frames: [], changes: [] };

// --- records ---

expectTypeOf<Status>().toEqualTypeOf<'idle' | 'running' | 'rescheduling' | 'terminated'>();
expectTypeOf<SessionRecord['status']>().toEqualTypeOf<Status>();
expectTypeOf<ThreadRecord['parentThreadId']>().toEqualTypeOf<string | null>();
expectTypeOf<NewAgent>().not.toHaveProperty('version');
expectTypeOf<AgentRecord>().toHaveProperty('version');
expectTypeOf<NewEnvironment>().not.toHaveProperty('revision');
expectTypeOf<EnvironmentRecord>().toHaveProperty('revision');
expectTypeOf<NewSession>().not.toHaveProperty('revision');
expectTypeOf<NewThread>().not.toHaveProperty('sessionId');
expectTypeOf<NewInput>().not.toHaveProperty('position');
expectTypeOf<InputRecord['position']>().toEqualTypeOf<number>();
expectTypeOf<NewApproval>().not.toHaveProperty('resolution');
expectTypeOf<ApprovalRecord['resolution']>().toExtend<object | null>();
expectTypeOf<NewWork>().not.toHaveProperty('state');
expectTypeOf<WorkRecord['state']>().toEqualTypeOf<'queued' | 'starting' | 'active' | 'stopping' | 'stopped'>();
expectTypeOf<WorkRecord['leasedUntil']>().toEqualTypeOf<number | null>();
expectTypeOf<NewKey>().not.toHaveProperty('workspaceId');
expectTypeOf<KeyRecord['result']>().toEqualTypeOf<JsonObject>();
expectTypeOf<Page<string>['next']>().toEqualTypeOf<string | null>();
expectTypeOf<PageRequest['cursor']>().toEqualTypeOf<string | undefined>();

// --- the store, the log on it, and what is done with them ---

expectTypeOf(createMemoryStore).toEqualTypeOf<(options?: { clock?: Clock }) => Store>();
expectTypeOf(openSqliteStore).toEqualTypeOf<(options: SqliteStoreOptions) => Promise<Store>>();
expectTypeOf(openPostgresStore).toEqualTypeOf<(options: PostgresOptions) => Promise<Store>>();
expectTypeOf<Pick<PostgresOptions, 'url'>>().toEqualTypeOf<{ readonly url: string }>();
expectTypeOf<PostgresOptions['schema']>().toEqualTypeOf<string | undefined>();
expectTypeOf<Store['documents']['get']>().returns.resolves.toEqualTypeOf<DocumentRecord | undefined>();
expectTypeOf<Store['blobs']['read']>().returns.toEqualTypeOf<AsyncIterable<Uint8Array>>();
expectTypeOf<Signal['type']>().toEqualTypeOf<'frames' | 'inputs' | 'works' | 'deleted'>();
expectTypeOf(createLog).toEqualTypeOf<(options: LogOptions) => SessionLog>();
expectTypeOf<SessionLog['append']>().parameter(0).toEqualTypeOf<Write<NewFrame>>();
expectTypeOf<SessionLog['tail']>().parameter(0).toEqualTypeOf<TailRequest>();
expectTypeOf<Tail['next']>().returns.resolves.toEqualTypeOf<IteratorResult<readonly Entry[], TailEnd>>();
expectTypeOf<TailEnd>().toEqualTypeOf<'aborted' | 'deleted' | 'closed'>();
expectTypeOf(pruneDeltas).toEqualTypeOf<(request: PruneDeltasRequest) => Promise<number>>();
expectTypeOf(DeltaCoalescer).toBeConstructibleWith({} as DeltaCoalescerOptions);
expectTypeOf(isStoreError).parameter(1).toEqualTypeOf<StoreErrorCode>();
expectTypeOf(isStoreError).guards.toEqualTypeOf<FleetloomError>();
