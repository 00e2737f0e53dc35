import type { AgentSnapshot, SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json/json.ts';
import type { ApprovalClosedBy, Budget, StopDetails, StopReason, UsageTotals } from './payload-parts.ts';

/** What the record of a session says beside its columns. */
export interface SessionData {
  readonly agent: SessionAgent;
  readonly environment_type: 'cloud' | 'self_hosted';
  readonly primary_thread_id: string;
  readonly title: string | null;
  readonly metadata: JsonObject;
  readonly budget: Budget | null;
  readonly usage: UsageTotals;
  readonly stop: Stopped;
  /** Time at work, threads that overlap counted once. */
  readonly active: Stopwatch;
  /** The same summed over all threads; those at work count up to when they began. */
  readonly thread_active_ms: number;
  /** The newest one. */
  readonly run: RunRecord | null;
  /** Messages of users that the agent has not taken up. */
  readonly waiting_ids: readonly string[];
  /** Bytes of its content in memory, as of the last change of this record. Records of earlier versions do not have it. */
  readonly content_bytes?: number;
  /** Left out without vaults. */
  readonly vault_ids?: readonly string[];
  /** The session runs elsewhere and is only shown here. */
  readonly is_read_only?: boolean;
}

/** What the record of a thread says beside its columns. */
export interface ThreadData {
  readonly agent: AgentSnapshot;
  readonly depth: number;
  readonly usage: UsageTotals;
  readonly stop: Stopped;
  readonly active: Stopwatch;
  /** When it first ran. */
  readonly started_at: number | null;
  /** It is a sub-agent of a program, which alone sends messages to it. Older records do not have it. */
  readonly is_sub_agent?: true;
}

/** The newest run of a session, as its record stores it. */
export interface RunRecord {
  readonly id: string;
  readonly started_at: number;
  /** Null while it goes on. */
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

/** Time that passes only while `since` is set. */
export interface Stopwatch {
  readonly totalMs: number;
  readonly since: number | null;
}

/** What the record of an approval says once it was withdrawn without an answer. */
export interface WithdrawnData {
  readonly interrupted: true;
  /** Left out: the call ended on its own. */
  readonly closed_by?: ApprovalClosedBy;
}
