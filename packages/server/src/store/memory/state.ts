import type { Entry } from '../frame.ts';
import type { AuditEntry, ChainEnd } from '../audit.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  DocumentRecord,
  EnvironmentRecord,
  InputRecord,
  KeyRecord,
  SessionRecord,
  ThreadRecord,
  WorkRecord,
} from '../records.ts';
import type { NewCheckpoint, RunPlace } from '../store.ts';
import type { SessionSummary, SummaryRecord } from '../summaries.ts';
import { Table, type Undo } from '../table.ts';

/** The whole state of the memory store. */
export class State {
  readonly agents = new Table<AgentRecord[]>();
  readonly environments = new Table<EnvironmentRecord>();
  readonly sessions = new Table<SessionRecord>();
  readonly summaries = new Table<KeptSummary>();
  readonly threads = new Table<ThreadRecord>();
  readonly inputs = new Table<InputRecord>();
  readonly approvals = new Table<ApprovalRecord>();
  readonly works = new Table<WorkRecord>();
  readonly keys = new Table<KeyRecord>();
  readonly documents = new Table<DocumentRecord>();
  readonly logs = new Table<MemoryLog>();
  /** By workspace. */
  readonly audit = new Table<MemoryChain>();
  lastPosition = 0;
}

/** A summary with the fields that queries use. */
export type KeptSummary = SummaryRecord & Pick<SessionSummary, 'search'> & { readonly workspaceId: string };

/** The remaining audit entries of one workspace, and the end of the removed ones. */
export interface MemoryChain {
  readonly start: ChainEnd;
  readonly entries: readonly AuditEntry[];
}

/** The log of a session, and its owner. */
export interface MemoryLog {
  readonly entries: Entry[];
  /** The seqs of frames that are not deltas. */
  readonly eventSeqs: number[];
  readonly runs: readonly RunPlace[];
  readonly checkpoints: readonly NewCheckpoint[];
  readonly epoch: number;
  readonly head: number;
  readonly fence: number;
  readonly owner: string | null;
  readonly expiresAt: number;
}

/** Stores a copy of a record, so that later changes of the object have no effect. */
export function keep<Value>(table: Table<Value>, key: string, record: object, undo?: Undo): Value {
  // The same conversion as in a database: anything that JSON cannot hold is lost.
  const kept = freeze(JSON.parse(JSON.stringify(record))) as Value;
  table.set(key, kept, undo);
  return kept;
}

function freeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
