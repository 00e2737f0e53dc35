import type { Generated, GeneratedAlways } from 'kysely';
import type { StoredSessionState } from '@fleetloom/protocol/fleet';
import type { Status, WorkState } from '../records.ts';

/**
 * The tables of both databases, for the query builder. Hot or database-specific queries are written in SQL.
 * `data` is JSON text: the database does not read it, and the order of its keys is kept.
 */
export interface Schema {
  agents: AgentRow;
  agent_versions: { agent_id: string; version: number; updated_at: number; data: string };
  environments: EnvironmentRow;
  sessions: SessionRow;
  summaries: SummaryRow;
  threads: ThreadRow;
  inputs: InputRow;
  approvals: ApprovalRow;
  works: WorkRow;
  documents: {
    kind: string;
    id: string;
    revision: number;
    updated_at: number;
    data: string;
    /** Derived from `data` by the database. */
    workspace_id: GeneratedAlways<string | null>;
  };
}

export interface AgentRow {
  id: string;
  workspace_id: string;
  /** The newest version. */
  version: number;
  created_at: number;
  archived_at: number | null;
}

export interface EnvironmentRow {
  id: string;
  workspace_id: string;
  revision: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

export interface SessionRow {
  /** Referenced by other tables: a number has a quarter of the size of the id. */
  key: Generated<number>;
  id: string;
  workspace_id: string;
  agent_id: string;
  agent_version: number;
  environment_id: string;
  status: Status;
  revision: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

export interface SummaryRow {
  session_key: number;
  session_id: string;
  workspace_id: string;
  state: StoredSessionState;
  stalls_at: number | null;
  agent_name: string;
  model: string;
  created_at: number;
  activity_at: number;
  /** In billionths of a US dollar. */
  cost: number | null;
  tokens: number;
  active_ms: number;
  search: string;
  data: string;
}

export interface ThreadRow {
  session_key: number;
  id: string;
  parent_thread_id: string | null;
  status: Status;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  data: string;
}

export interface InputRow {
  position: Generated<number>;
  session_key: number;
  id: string;
  thread_id: string | null;
  time: number;
  data: string;
}

export interface ApprovalRow {
  session_key: number;
  id: string;
  workspace_id: string;
  thread_id: string;
  created_at: number;
  data: string;
  resolved_at: number | null;
  resolution: string | null;
}

export interface WorkRow {
  id: string;
  workspace_id: string;
  environment_id: string;
  session_key: number;
  session_id: string;
  state: WorkState;
  revision: number;
  created_at: number;
  claimed_at: number | null;
  leased_until: number | null;
  data: string;
}
