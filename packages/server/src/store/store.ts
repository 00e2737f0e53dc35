import type { AuditLog, NewAuditEntry } from './audit.ts';
import type { ConnectionUse } from './connection-use.ts';
import type { Entry } from './frame.ts';
import type { Page, PageRequest } from './page.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  DocumentRecord,
  EnvironmentRecord,
  InputRecord,
  KeyRecord,
  NewAgent,
  NewEnvironment,
  NewKey,
  SessionRecord,
  Status,
  ThreadRecord,
  WorkRecord,
  WorkState,
} from './records.ts';
import type { Summaries } from './summaries.ts';
import type { Outcome, Write } from './write.ts';

/**
 * Persistent sessions and all records around them. store.suite.ts tests what every implementation does.
 *
 * Several processes may share one store: the store is their only shared state. Times of leases and keys are
 * measured by the clock of the store itself, because the clocks of several machines differ.
 */
export interface Store {
  readonly agents: Agents;
  readonly environments: Environments;
  readonly sessions: Sessions;
  readonly threads: Threads;
  readonly inputs: Inputs;
  readonly approvals: Approvals;
  readonly works: Works;
  readonly keys: Keys;
  readonly leases: Leases;
  readonly documents: Documents;
  readonly blobs: Blobs;
  readonly runs: Runs;
  readonly summaries: Summaries;
  readonly checkpoints: Checkpoints;
  /** The audit log. Changes of this store accept an entry as `audit` and write both in one transaction, or neither. */
  readonly audit: AuditLog;

  /** Statistics of connections; undefined for an embedded store. */
  readonly connections?: ConnectionUse | undefined;

  /** The time by the clock of the store, which leases, keys and documents use. */
  now(): Promise<number>;

  /**
   * Several writes in one durable transaction; the outcomes are in their order. A refused write leaves nothing behind
   * and does not hinder the others, except that appends to the same session behind it are refused too, so that no frame
   * stands without those that were to come before it. Rejects only if nothing at all was written: an implementation that
   * lost its connection during the commit finds out first what became of it.
   */
  commit(writes: readonly Write[]): Promise<readonly Outcome[]>;

  /** Entries behind a cursor, in order and without gaps. At least one entry if there is one, of any size. */
  read(request: ReadRequest): Promise<readonly Entry[]>;

  /**
   * Bytes of the frames behind a cursor, deltas not counted, without reading them. Up to one segment more may be counted; 0 if
   * there is no such session.
   */
  logBytes(sessionId: string, after: number): Promise<number>;

  /** The last `seq` of each session, 0 for an empty log; sessions that do not exist are absent. */
  heads(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Removes frames and leaves pruned ranges. `pruneDeltas` decides which frames can be removed without changing any fold. A long
   * log is pruned in several transactions, so a concurrent read may find some of it removed and some not.
   */
  prune(sessionId: string, ranges: readonly SeqRange[]): Promise<void>;

  /**
   * Wakes waiting readers after writes of this and of other processes. Only a hint: it may arrive late, twice or, when
   * a connection breaks, not at all. Returns the function that ends the subscription.
   */
  subscribe(onSignals: (signals: readonly Signal[]) => void): () => void;

  /** Waits for writes in progress. Later calls are rejected. */
  close(): Promise<void>;
}

/** Which frames to read, and the limits of one read. */
export interface ReadRequest {
  readonly sessionId: string;
  /** The last one known; 0 for all. */
  readonly after: number;
  readonly entriesMax: number;
  readonly bytesMax: number;
  /** Deltas are returned as ranges, as if they were pruned. Segments that contain only deltas are not read. */
  readonly skipsDeltas?: boolean;
}

/** Both ends are part of it. */
export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** A change in the store. Signals are only hints: readers must also poll. */
export type Signal =
  | { readonly type: 'frames'; readonly sessionId: string; readonly head: number }
  /** Input, or an answer to a pending call, was submitted. */
  | { readonly type: 'inputs'; readonly sessionId: string }
  /** An item of work was queued. */
  | { readonly type: 'works'; readonly sessionId: string }
  | { readonly type: 'deleted'; readonly sessionId: string };

/** Agents with all their versions. */
export interface Agents {
  create(agent: NewAgent, audit?: NewAuditEntry): Promise<AgentRecord>;
  /** With `ifVersion`, the change is rejected if the newest version is another one. */
  addVersion(change: RecordChange & { ifVersion?: number }, audit?: NewAuditEntry): Promise<AgentRecord>;
  /** The newest version if none is given. */
  get(workspaceId: string, id: string, version?: number): Promise<AgentRecord | undefined>;
  list(request: ListRequest): Promise<Page<AgentRecord>>;
  /** Sorted by version. */
  listVersions(request: PageRequest & { workspaceId: string; id: string }): Promise<Page<AgentRecord>>;
  /** Idempotent. */
  archive(workspaceId: string, id: string, time: number, audit?: NewAuditEntry): Promise<AgentRecord>;
}

export interface Environments {
  create(environment: NewEnvironment, audit?: NewAuditEntry): Promise<EnvironmentRecord>;
  update(change: RecordChange & { ifRevision?: number }, audit?: NewAuditEntry): Promise<EnvironmentRecord>;
  get(workspaceId: string, id: string): Promise<EnvironmentRecord | undefined>;
  list(request: ListRequest): Promise<Page<EnvironmentRecord>>;
  archive(workspaceId: string, id: string, time: number, audit?: NewAuditEntry): Promise<EnvironmentRecord>;
  delete(workspaceId: string, id: string, audit?: NewAuditEntry): Promise<void>;
}

/** Sessions change by writes. */
export interface Sessions {
  get(workspaceId: string, id: string): Promise<SessionRecord | undefined>;
  /** The workspace that a session belongs to. */
  findWorkspace(id: string): Promise<string | undefined>;
  list(request: SessionListRequest): Promise<Page<SessionRecord>>;
  /** The same sessions without their data, which may be large. */
  listChanged(request: ChangedSessionsRequest): Promise<Page<Pick<SessionRecord, 'id' | 'createdAt'>>>;
}

export interface Threads {
  get(sessionId: string, id: string): Promise<ThreadRecord | undefined>;
  list(request: PageRequest & { sessionId: string; statuses?: readonly Status[] }): Promise<Page<ThreadRecord>>;
}

/** Inputs that a session has not consumed yet. */
export interface Inputs {
  /**
   * The first ones in the order of their arrival, up to the one that reaches `inputsTakenBytesMax`. They stay until an append
   * consumes them.
   */
  peek(sessionId: string, limit: number): Promise<readonly InputRecord[]>;
  /** The position of the newest one. */
  lastPosition(sessionId: string): Promise<number | undefined>;
  /** Bytes of all of them as JSON, without reading them. */
  bytes(sessionId: string): Promise<number>;
}

export interface Approvals {
  get(sessionId: string, id: string): Promise<ApprovalRecord | undefined>;
  /** Of a whole workspace, or of one session in it. */
  list(
    request: PageRequest & { workspaceId: string; sessionId?: string; isPending?: boolean },
  ): Promise<Page<ApprovalRecord>>;
}

/** Items of work. They are created by writes, and deleted with their session. */
export interface Works {
  get(workspaceId: string, id: string): Promise<WorkRecord | undefined>;
  list(request: PageRequest & { workspaceId: string; environmentId: string }): Promise<Page<WorkRecord>>;
  /**
   * Hands out the oldest waiting item, as `queued`, to exactly one of any number of concurrent callers. Items wait again
   * when no worker has confirmed them for `reclaimMs`, or when the lease of their worker has run out. An item is held back
   * while another one of its session has a worker, and for good when the session has ended.
   */
  claim(request: { workspaceId: string; environmentId: string; reclaimMs: number }): Promise<WorkRecord | undefined>;
  /** Rejected if the item has another revision. A lease begins now; null ends it. */
  update(change: WorkChange): Promise<WorkRecord>;
  count(request: { workspaceId: string; environmentId: string }): Promise<WorkCounts>;
}

/** A change of an item of work, rejected unless the revision is the given one. */
export interface WorkChange {
  readonly workspaceId: string;
  readonly id: string;
  readonly ifRevision: number;
  readonly state?: WorkState;
  readonly leaseMs?: number | null;
  readonly data?: object;
}

/** The sizes of one queue. */
export interface WorkCounts {
  /** Items without a worker. */
  readonly waiting: number;
  /** Items that were handed out, but not confirmed by a worker yet. */
  readonly claimed: number;
  /** Creation time of the oldest item. */
  readonly oldestAt: number | null;
}

/** Idempotency keys with their stored results. */
export interface Keys {
  get(workspaceId: string, key: string): Promise<KeyRecord | undefined>;
  /** Returns the record under the key: the given one, or an earlier one that has not expired. */
  putIfAbsent(record: NewKey & Pick<KeyRecord, 'workspaceId'>): Promise<{ isNew: boolean; record: KeyRecord }>;
}

/** The leases of sessions: at most one owner at a time, each with a fence. */
export interface Leases {
  /** Acquires the lease of the session if it is free. The fence is greater than all earlier ones, also for the same owner. */
  acquire(request: { sessionId: string; owner: string; ttlMs: number }): Promise<Acquired>;
  /** Renews all leases of an owner at once. Returns the sessions that it has lost. */
  renew(request: { owner: string; ttlMs: number; leases: readonly Held[] }): Promise<readonly string[]>;
  /** Releases a lease. Its fence is invalid afterwards. Does nothing if it was released before. */
  release(lease: Held): Promise<void>;
  /** The owner of the session at this moment; undefined if it has none or does not exist. */
  findOwner(sessionId: string): Promise<string | undefined>;
  /** Sessions that this owner acquired, whether its leases have expired or not, and that have input. */
  findWithInputs(owner: string): Promise<readonly string[]>;
  /** Sessions with work and without an owner: running or rescheduling, or with input. */
  findOrphans(limit: number): Promise<readonly string[]>;
}

/** A lease as its owner knows it. */
export interface Held {
  readonly sessionId: string;
  readonly fence: number;
}

/** The lease, or the owner that has it. */
export type Acquired =
  | { readonly ok: true; readonly fence: number; readonly head: number; readonly expiresAt: number }
  | { readonly ok: false; readonly owner: string; readonly expiresAt: number };

/** Small values that all processes on the store share. `kind` names the collection. */
export interface Documents {
  get(kind: string, id: string): Promise<DocumentRecord | undefined>;
  /** The existing documents among these ids, in any order, with one query. */
  getAll(kind: string, ids: readonly string[]): Promise<readonly DocumentRecord[]>;
  /** With `ifRevision`, the change is rejected if the document has another revision; 0: unless it does not exist. */
  put(
    document: { kind: string; id: string; data: object; ifRevision?: number },
    audit?: NewAuditEntry,
  ): Promise<DocumentRecord>;
  /** Sorted by id. */
  list(request: Omit<PageRequest, 'createdFrom' | 'createdTo'> & { kind: string }): Promise<Page<DocumentRecord>>;
  /**
   * All of the changes in one durable transaction, or none: a `version_conflict` of one of them refuses them all. No document may be
   * in it twice.
   */
  change(changes: readonly DocumentChange[], audit?: NewAuditEntry): Promise<void>;
  /**
   * The documents of one owner between `above` and `below`, sorted by id. The cost depends on the number of results,
   * not on the documents of other owners. The data of a `file`, a `login` and a `vault` names its owner as `workspaceId`, that of a
   * `vault_credential` as `vaultId`.
   */
  listOfWorkspace(request: WorkspaceDocuments): Promise<readonly DocumentRecord[]>;
  /** How many documents of a kind the workspace has, counted up to `max`. */
  countOfWorkspace(request: Pick<WorkspaceDocuments, 'kind' | 'workspaceId'> & { max: number }): Promise<number>;
  /** Idempotent. */
  delete(kind: string, id: string, audit?: NewAuditEntry): Promise<void>;
}

/** One of several changes in a transaction. */
export type DocumentChange =
  /** `ifRevision` as with `put`. */
  | {
      readonly type: 'put';
      readonly kind: string;
      readonly id: string;
      readonly data: object;
      readonly ifRevision?: number;
    }
  /** Without `ifRevision` a second time changes nothing. */
  | { readonly type: 'delete'; readonly kind: string; readonly id: string; readonly ifRevision?: number };

/** Which documents of an owner are listed. Both bounds are exclusive. */
export interface WorkspaceDocuments {
  readonly kind: 'file' | 'login' | 'vault' | 'vault_credential';
  /** The workspace, or the vault of credentials. */
  readonly workspaceId: string;
  readonly limit: number;
  readonly above?: string | undefined;
  readonly below?: string | undefined;
  /** By default the largest id first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** Bytes of files, stored in parts so that a large file is never in memory as a whole. */
export interface Blobs {
  /** Writes a blob. It becomes visible, and replaces the previous one, only when it is complete. A failed write leaves nothing behind. */
  write(id: string, bytes: AsyncIterable<Uint8Array>): Promise<{ bytes: number }>;
  /** Reads a blob. Fails with `not_found` if it does not exist, also in the middle if it is deleted or replaced. */
  read(id: string): AsyncIterable<Uint8Array>;
  /** Idempotent. */
  delete(id: string): Promise<void>;
}

/**
 * The index of runs: the position of each run in its log. It is written in the same transaction as the frames `run.started`
 * and `run.ended`. A log that is older than the index is indexed when a run of it is looked up.
 */
export interface Runs {
  /** The newest run that begins at or before a frame. */
  findAt(sessionId: string, seq: number): Promise<RunPlace | undefined>;
  /** The first run that began at this time or later. */
  findSince(sessionId: string, time: number): Promise<RunPlace | undefined>;
  get(sessionId: string, runId: string): Promise<RunPlace | undefined>;
  /** The runs of a workspace that have not ended, or those that started at or after a time. Newest first. */
  list(request: RunListRequest): Promise<Pick<Page<RunPlace>, 'items' | 'next'>>;
}

/** The position of a run in its log. */
export interface RunPlace {
  readonly sessionId: string;
  readonly id: string;
  /** The `seq` of `run.started`. */
  readonly firstSeq: number;
  /** The `seq` of `run.ended`; null while the run is open. */
  readonly lastSeq: number | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export type RunListRequest = Pick<PageRequest, 'limit' | 'cursor'> & { readonly workspaceId: string } & (
    | { readonly isOpen: true }
    | { readonly startedFrom: number }
  );

/**
 * Stored folds of logs, so that a reader does not have to fold a log from its first frame. They only save time: a missing
 * checkpoint is folded from the log. `kind` names the fold and the version of its format, so that a new version ignores
 * checkpoints of an old one. Checkpoints are deleted with their session.
 */
export interface Checkpoints {
  /** The newest one at or before a frame. */
  find(request: { sessionId: string; kind: string; upTo: number }): Promise<Checkpoint | undefined>;
  /** The position and size of that checkpoint, without its data. */
  findSeq(request: { sessionId: string; kind: string; upTo: number }): Promise<CheckpointSize | undefined>;
  /** Changes when frames are pruned: a fold that began before may differ from one that begins now. */
  epoch(sessionId: string): Promise<number>;
  /** Does nothing if frames were pruned since `epoch`, or if the session does not exist any more. */
  put(checkpoint: NewCheckpoint): Promise<void>;
}

export interface CheckpointSize {
  /** The last frame that was folded. */
  readonly seq: number;
  readonly bytes: number;
}

export interface Checkpoint extends CheckpointSize {
  readonly data: Uint8Array;
}

/** The saved state of a fold. It is not stored if frames were pruned since `epoch`. */
export interface NewCheckpoint {
  readonly sessionId: string;
  readonly kind: string;
  readonly seq: number;
  readonly data: Uint8Array;
  readonly epoch: number;
  /** The fold depends on deltas: the checkpoint is deleted when frames up to it are pruned. */
  readonly dependsOnDeltas: boolean;
  /** Deletes older checkpoints of the same kind. */
  readonly replacesOlder: boolean;
}

interface RecordChange {
  readonly workspaceId: string;
  readonly id: string;
  readonly data: object;
  readonly updatedAt: number;
}

/** Sorted by the time of creation, then by id. */
export interface ListRequest extends PageRequest {
  readonly workspaceId: string;
  readonly includeArchived?: boolean;
}

export interface SessionListRequest extends ListRequest {
  /** Only those that changed then or later. */
  readonly updatedFrom?: number;
  readonly agentId?: string;
  readonly agentVersion?: number;
  readonly statuses?: readonly Status[];
}

/** Sessions that changed at or after a time. */
export type ChangedSessionsRequest = SessionListRequest & { readonly updatedFrom: number };
