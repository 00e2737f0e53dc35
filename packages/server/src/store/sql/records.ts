import type { Selectable } from 'kysely';
import type { JsonObject } from '../../base/json/json.ts';
import type {
  AgentRecord,
  ApprovalRecord,
  DocumentRecord,
  EnvironmentRecord,
  InputRecord,
  SessionRecord,
  ThreadRecord,
  WorkRecord,
} from '../records.ts';
import type { Schema } from './schema.ts';

// Converts rows to records.

type Row<Table extends keyof Schema> = Selectable<Schema[Table]>;

/** An agent with one of its versions. */
export type AgentVersionRow = Omit<Row<'agents'>, 'version'> & Omit<Row<'agent_versions'>, 'agent_id'>;

export function toAgent(row: AgentVersionRow): AgentRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

export function toEnvironment(row: Row<'environments'>): EnvironmentRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

export function toSession(row: Row<'sessions'>): SessionRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    agentId: row.agent_id,
    agentVersion: row.agent_version,
    environmentId: row.environment_id,
    status: row.status,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

/** The position of a session in its list. */
export function toSessionId(row: Pick<Row<'sessions'>, 'id' | 'created_at'>): Pick<SessionRecord, 'id' | 'createdAt'> {
  return { id: row.id, createdAt: row.created_at };
}

export function toThread(sessionId: string, row: Row<'threads'>): ThreadRecord {
  return {
    sessionId,
    id: row.id,
    parentThreadId: row.parent_thread_id,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
    data: parseData(row.data),
  };
}

export function toInput(sessionId: string, row: Row<'inputs'>): InputRecord {
  const { id, position, time } = row;
  return { sessionId, id, threadId: row.thread_id, position, time, data: parseData(row.data) };
}

export function toApproval(row: Row<'approvals'> & { session_id: string }): ApprovalRecord {
  const isPending = row.resolved_at === null || row.resolution === null;
  return {
    workspaceId: row.workspace_id,
    sessionId: row.session_id,
    id: row.id,
    threadId: row.thread_id,
    createdAt: row.created_at,
    data: parseData(row.data),
    resolution: isPending ? null : { time: row.resolved_at!, data: parseData(row.resolution!) },
  };
}

export function toWork(row: Row<'works'>): WorkRecord {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    environmentId: row.environment_id,
    sessionId: row.session_id,
    state: row.state,
    revision: row.revision,
    createdAt: row.created_at,
    claimedAt: row.claimed_at,
    leasedUntil: row.leased_until,
    data: parseData(row.data),
  };
}

export function toDocument(row: Omit<Row<'documents'>, 'workspace_id'>): DocumentRecord {
  const { kind, id, revision } = row;
  return { kind, id, revision, data: parseData(row.data), updatedAt: row.updated_at };
}

/** Only the store writes these columns, and it writes objects. */
export function parseData(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
