import type { AgentSnapshot, SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json/json.ts';
import type { ApprovalClosedBy, Budget, StopDetails, StopReason, UsageTotals } from './payload-parts.ts';

/** The data in the record of a session that has no column of its own. */
export interface SessionData {
  readonly agent: SessionAgent;
  readonly environment_type: 'cloud' | 'self_hosted';
  readonly primary_thread_id: string;
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly budget: Budget | null;
  readonly usage: UsageTotals;
  readonly stop: Stopped;
  /** Time during which at least one thread was running. */
  readonly active: Stopwatch;
  /** Running time summed over all threads. The current turn of a running thread is not included. */
  readonly thread_active_ms: number;
  /** The newest run. */
  readonly run: RunRecord | null;
  /** Queued user messages that the agent has not processed. */
  readonly waiting_ids: readonly string[];
  /** Bytes of its content in memory, as of the last change of this record. Records of earlier versions do not have it. */
  readonly content_bytes?: number;
  /** Absent without vaults. */
  readonly vault_ids?: readonly string[];
  /** The session runs elsewhere and is read-only here. */
  readonly is_read_only?: boolean;
}

/** The data in the record of a thread that has no column of its own. */
export interface ThreadData {
  readonly agent: AgentSnapshot;
  readonly depth: number;
  readonly usage: UsageTotals;
  readonly stop: Stopped;
  readonly active: Stopwatch;
  /** When it first ran. */
  readonly started_at: number | null;
  /** The thread is a sub-agent of a program, and only the program sends messages to it. Absent in older records. */
  readonly is_sub_agent?: true;
}

/** The newest run of a session, as its record stores it. */
export interface RunRecord {
  readonly id: string;
  readonly started_at: number;
  /** Null while the run is in progress. */
  readonly ended_at: number | null;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly agent_name: string;
  readonly message: string;
}

/** Why a thread stopped, with details of a refusal. */
export interface Stopped {
  readonly reason: StopReason;
  readonly details: StopDetails | null;
}

/** A duration that grows only while `since` is set. */
export interface Stopwatch {
  readonly totalMs: number;
  readonly since: number | null;
}

/** The data in the record of an approval that was withdrawn without an answer. */
export interface WithdrawnData {
  readonly interrupted: true;
  /** Absent: the call ended on its own. */
  readonly closed_by?: ApprovalClosedBy;
}
