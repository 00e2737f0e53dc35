import type { AgentSnapshot, SessionAgent } from '@fleetloom/protocol/managed-agents';
import type { JsonObject } from '../base/json.ts';
import type { AskClosedBy, Budget, StopDetails, StopReason, UsageTotals } from './frames.ts';

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
  /** It is only told here. */
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
}

export interface RunRecord {
  readonly id: string;
  readonly started_at: number;
  /** Null while it goes on. */
  readonly ended_at: number | null;
  readonly state: 'running' | 'completed' | 'failed' | 'cancelled';
  readonly agent_name: string;
  readonly message: string;
}

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
  readonly closed_by?: AskClosedBy;
}
