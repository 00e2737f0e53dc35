import type { JsonObject } from '../base/json/json.ts';

// Records are stored beside the logs. A few fields are columns, because lists filter by them and guards check
// them; the rest is `data`, which the store does not read. Times are milliseconds since 1970 and come from callers.

/** Each record belongs to one workspace, and is found only with its workspace. */
interface Owned {
  readonly workspaceId: string;
  readonly id: string;
}

interface Dated {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt: number | null;
  readonly data: JsonObject;
}

/** One version of an agent. `createdAt` and `archivedAt` are the agent's, `updatedAt` is when this version was made. */
export interface AgentRecord extends Owned, Dated {
  readonly version: number;
}

export interface EnvironmentRecord extends Owned, Dated {
  /** Increases with each change, so that a change can name the revision that it is based on. */
  readonly revision: number;
}

/** The status of a session or thread, as on the wire. */
export type Status = 'idle' | 'running' | 'rescheduling' | 'terminated';

/** A session with the columns that lists filter by; the rest is in `data`. */
export interface SessionRecord extends Owned, Dated {
  readonly agentId: string;
  readonly agentVersion: number;
  readonly environmentId: string;
  readonly status: Status;
  readonly revision: number;
}

/** Belongs to the workspace of its session. */
export interface ThreadRecord extends Dated {
  readonly sessionId: string;
  readonly id: string;
  readonly parentThreadId: string | null;
  readonly status: Status;
}

/** An input that was sent and that the session has not processed yet. */
export interface InputRecord {
  readonly sessionId: string;
  readonly id: string;
  /** Null: the input is for the session as a whole. */
  readonly threadId: string | null;
  /** Increases in the order of arrival. */
  readonly position: number;
  readonly time: number;
  readonly data: JsonObject;
}

/** A tool call that waits for a client: for a decision or for a result. */
export interface ApprovalRecord extends Owned {
  readonly sessionId: string;
  readonly threadId: string;
  readonly createdAt: number;
  readonly data: JsonObject;
  /** Null while the call waits. */
  readonly resolution: { readonly time: number; readonly data: JsonObject } | null;
}

/** The state of an item of work, as on the wire. */
export type WorkState = 'queued' | 'starting' | 'active' | 'stopping' | 'stopped';

/** A session whose tools run outside of the server: it waits for a worker, or has one. */
export interface WorkRecord extends Owned {
  readonly environmentId: string;
  readonly sessionId: string;
  readonly state: WorkState;
  /** Increases with each change, so that a change can name the revision that it is based on. */
  readonly revision: number;
  readonly createdAt: number;
  /** When it was last handed out. */
  readonly claimedAt: number | null;
  /** End of the worker's lease; null without a worker. */
  readonly leasedUntil: number | null;
  readonly data: JsonObject;
}

/** An idempotency key, and the result of the request that used it. */
export interface KeyRecord {
  readonly workspaceId: string;
  readonly key: string;
  readonly expiresAt: number;
  readonly result: JsonObject;
}

/** A small value that all processes on the store share. It belongs to no workspace. */
export interface DocumentRecord {
  readonly kind: string;
  readonly id: string;
  /** Increases with each change, so that a change can name the revision that it is based on. A document that is created again begins at 1. */
  readonly revision: number;
  readonly data: JsonObject;
  /** By the clock of the store. */
  readonly updatedAt: number;
}

/** A new record as the caller provides it: any plain object as data, and without the fields that the store fills in. */
type New<Record, Filled extends keyof Record = never> = Omit<Record, Filled | 'data' | 'updatedAt' | 'archivedAt'> & {
  readonly data: object;
};

export type NewAgent = New<AgentRecord, 'version'>;
export type NewEnvironment = New<EnvironmentRecord, 'revision'>;
export type NewSession = New<SessionRecord, 'revision'>;
export type NewThread = New<ThreadRecord, 'sessionId'>;
export type NewInput = New<InputRecord, 'sessionId' | 'position'>;
export type NewApproval = New<ApprovalRecord, 'workspaceId' | 'sessionId' | 'resolution'>;
export type NewWork = Pick<WorkRecord, 'id' | 'createdAt'> & { readonly data: object };
/** An idempotency key with the result to store under it. */
export type NewKey = Omit<KeyRecord, 'workspaceId' | 'result'> & {
  readonly result: object;
  /** Replaces an existing key of the same name. Without it the existing key stays. */
  readonly replaces?: boolean;
};
